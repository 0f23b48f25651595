// SPDX-License-Identifier: GPL-2.0-or-later
/* placeholder */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "tmigr/live.h"
static int sink(void *arg, const struct tmigr_rec *r, size_t n){ size_t *c=arg; *c+=n; for(size_t i=0;i<n;i++) if (getenv("V")) printf("%llu cpu%u type%u lvl%u mask%x fl%x a=%llx b=%llx\n", r[i].t_ns, r[i].cpu, r[i].type, r[i].level, r[i].mask,r[i].flags,r[i].a,r[i].b); return 0; }
int main(void){
 struct tmigr_err err={""}; struct tmigr_topology *t=NULL; struct tmigr_live *l=NULL; __u64 s,e,w; size_t c=0;
 if (tmigr_topology_read(NULL,NULL,0,&t,&err)) { puts(err.text); return 1;}
 if (tmigr_live_open(NULL,t,&l,&err)) { puts(err.text); return 1;}
 if (tmigr_live_start(l,&s,&err)) { puts(err.text); return 1;}
 sleep(1);
 if (tmigr_live_drain(l,sink,&c,&w,&err)) puts(err.text);
 printf("drained %zu\n",c);
 if (tmigr_live_stop(l,&e,&err)) puts(err.text);
 if (tmigr_live_drain(l,sink,&c,&w,&err)) puts(err.text);
 struct tmigr_window_totals *tt=NULL;
 if (tmigr_live_totals(l,&tt,&err)) puts(err.text);
 else { json_t*j=tmigr_window_totals_to_json(tt); puts(json_dumps(j,JSON_COMPACT)); 
  for (size_t i=0;i<tt->n_cpus;i++){ __u64 sum=0; for(int k=0;k<TMIGR_SLOTS;k++) sum+=tt->cpus[i].time_ns[k]; printf("cpu%u sum %llu window %llu\n",tt->cpus[i].cpu,sum,e-s);} }
 printf("drained %zu\n",c);
 tmigr_live_close(l);
}
