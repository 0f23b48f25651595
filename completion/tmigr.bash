# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion for tmigr and tmigrd: for bash, and behind tmigr.zsh and tmigr.fish for the
# others.  Verbs and options are read from the programs' own help, so that there is no
# second list of them.  zsh runs it too: no `words', `path' or `status' as names here.

_tmigr_verbs() { # PROGRAM
	"$1" --help 2>/dev/null | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

_tmigr_options() { # PROGRAM [VERB]
	"$@" --help 2>/dev/null | grep -E '^ {2,6}-' |
		sed -E 's/^ +//; s/([^ ]) {2,}.*/\1/; s/, /\n/g' | sed -E 's/[[ =].*//' | grep -E '^-'
}

# The options of which the help names a value.
_tmigr_takes_value() { # OPTION PROGRAM [VERB]
	local option=$1
	shift
	"$@" --help 2>/dev/null | grep -E '^ {2,6}-' | sed -E 's/^ +//; s/([^ ]) {2,}.*/\1/' |
		grep -qE -- "(^|, )$option(, -[^ ]+)* [^ -]"
}

# CPU lists: those of each capacity class, then single CPUs.
_tmigr_cpus() {
	local sysfs=${TMIGR_COMPLETION_SYSFS:-/sys/devices/system/cpu} c n
	for c in "$sysfs"/cpu[0-9]*; do
		n=${c##*/cpu}
		[ -d "$c" ] && printf '%s %s\n' "$(cat "$c/cpu_capacity" 2>/dev/null || echo 0)" "$n"
	done | sort -n -k1,1 -k2,2 | awk '
		function flush() { if (list != "") print list (first == last ? "" : "-" last); }
		$1 != cap { flush(); list = $2; first = last = $2; cap = $1; all = all "\n" $2; next }
		{ all = all "\n" $2 }
		$2 == last + 1 { last = $2; next }
		{ list = list (first == last ? "" : "-" last) "," $2; first = last = $2 }
		END { flush(); print substr(all, 2) }' | awk 'NF && !seen[$0]++'
}

# Labels of the runs in the folders given, else of those hereabouts.
_tmigr_labels() { # DIR...
	local d
	[ $# -gt 0 ] || set -- . ./* results/*
	for d in "$@"; do
		[ -d "$d" ] || continue
		cat "$d"/run.json "$d"/run-*/run.json 2>/dev/null |
			sed -n 's/^ "label": "\([^"\\]*\)",*$/\1/p'
		[ -e "$d/run-1" ] && ! grep -q '^ "label": "' "$d/run-1/run.json" 2>/dev/null && basename "$d"
	done | sort -u
}

_tmigr_figures() { # PROGRAM
	"$1" report --help 2>/dev/null | grep -oE '\b(remote_[a-z_]+|(lost|big|avoidable|unknown|handover|duty|free)_[a-z]+|window_s|exit_status)\b' | sort -u
}

# As the help lists them: "csv: residency (if nothing is said), runs, ...".
_tmigr_tables() { # PROGRAM
	"$1" export --help 2>/dev/null | sed -n '/--table NAME/,/^ *--[a-su-z]/p' | sed '$d' | tr '\n' ' ' |
		sed 's/.*csv: *//; s/([^)]*)//g' | grep -oE '[a-z][a-z-]+'
}

# Values of an option, one a line; status 1: they are names of files.
_tmigr_values() { # OPTION PROGRAM WORD...
	local option=$1 program=$2 word dirs=()
	shift 2
	for word in "$@"; do
		[ -d "$word" ] && dirs+=("$word")
	done
	case $option in
	-f | --format) printf '%s\n' csv json perfetto openmetrics ;;
	-t | --table) _tmigr_tables "$program" ;;
	--source) printf '%s\n' bpf ftrace auto ;;
	--sort) printf '%s\n' cpu class residency holding ;;
	--group) printf '%s\n' none class hierarchy ;;
	--timer-migration) printf '%s\n' on off ;;
	--metric) printf '%s\n' perf-bench tbench schbench hackbench cyclictest stress-ng ;;
	--csv) echo runs ;;
	--class) printf '%s=\n' LITTLE mid big ;;
	--class=*) _tmigr_cpus ;;
	--offline | --cycle) _tmigr_cpus ;;
	--housekeeping) _tmigr_cpus | grep -v '[-,]' ;;
	-l | --label) _tmigr_labels ;;
	--baseline) _tmigr_labels "${dirs[@]}" ;;
	--fail-if) _tmigr_figures "$program" ;;
	-o | --output | --html | --cpus | --socket) return 1 ;;
	*) ;;
	esac
}

_tmigr_files() { # of $1, into COMPREPLY
	[ -z "${ZSH_VERSION-}" ] || return 0 # it has its own, for when we have nothing
	local IFS=$'\n'
	# shellcheck disable=SC2207
	COMPREPLY=($(compgen -f -- "$1"))
	compopt -o filenames 2>/dev/null
}

_tmigr() {
	local program=$1 cur=${COMP_WORDS[COMP_CWORD]} option='' verb=() i dash=''
	local before=("${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}")
	COMPREPLY=()
	# Is it one of the verbs (or short for one)?
	if [ "${program##*/}" != tmigrd ]; then
		if [ "$COMP_CWORD" = 1 ]; then
			# shellcheck disable=SC2207
			COMPREPLY=($(compgen -W "$(_tmigr_verbs "$program") --help --version" -- "$cur"))
			return
		fi
		if [ "${before[0]-}" = help ]; then
			# shellcheck disable=SC2207
			[ "$COMP_CWORD" = 2 ] && COMPREPLY=($(compgen -W "$(_tmigr_verbs "$program")" -- "$cur"))
			return
		fi
		verb=("${before[0]-}")
	fi
	# What follows -- or the first word that is no option is run's command.
	if [ "${verb[0]-}" = run ]; then
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			--) dash=$((i + 1)) && break ;;
			=) i=$((i + 1)) ;;
			-*) _tmigr_takes_value "${COMP_WORDS[i]}" "$program" run &&
				[ "${COMP_WORDS[i + 1]-}" != = ] && i=$((i + 1)) &&
				[ "${COMP_WORDS[i + 1]-}" = = ] && i=$((i + 2)) ;;
			*) dash=$i && break ;;
			esac
		done
		if [ "$dash" ]; then
			if [ "$dash" -lt "$COMP_CWORD" ]; then
				_tmigr_files "$cur"
			else
				# shellcheck disable=SC2207
				COMPREPLY=($(compgen -c -- "$cur" | sort -u))
			fi
			return
		fi
	fi
	# bash takes "--class LITTLE=0" as four words, "--sort=x" as three; other shells
	# do not break words at "=", and what they complete is the whole.
	local prev=${COMP_WORDS[COMP_CWORD - 1]} at=$((COMP_CWORD - 1)) prefix=''
	[ "$cur" = = ] && cur= && prev="=" && at=$COMP_CWORD
	if [ "$prev" = = ]; then
		option=${COMP_WORDS[at - 1]-}
		case ${COMP_WORDS[at - 2]-} in
		--class) option=--class= ;;
		esac
		[ "${COMP_WORDS[at - 2]-}" = = ] && [ "${COMP_WORDS[at - 3]-}" = --class ] && option=--class=
	elif [[ $cur == --*=* ]]; then
		option=${cur%%=*} cur=${cur#*=} prefix=$option=
	elif [ "$prev" = --class ] && [[ $cur == *=* ]]; then
		option=--class= prefix=${cur%%=*}= cur=${cur#*=}
	elif _tmigr_takes_value "$prev" "$program" "${verb[@]}"; then
		option=$prev
	fi
	if [ "$option" ]; then
		local values
		if values=$(_tmigr_values "$option" "$program" "${before[@]}"); then
			# shellcheck disable=SC2207
			COMPREPLY=($(compgen -W "$values" -- "$cur"))
			COMPREPLY=("${COMPREPLY[@]/#/$prefix}")
			case $option in --class | --fail-if) compopt -o nospace 2>/dev/null ;; esac
		else
			_tmigr_files "$cur"
		fi
		return
	fi
	if [[ $cur == -* ]]; then
		# shellcheck disable=SC2207
		COMPREPLY=($(compgen -W "$(_tmigr_options "$program" "${verb[@]}")" -- "$cur"))
		return
	fi
	case ${verb[0]-} in
	run)
		# shellcheck disable=SC2207
		COMPREPLY=($(compgen -c -- "$cur" | sort -u))
		;;
	report | compare | export | import | tree | hotplug) _tmigr_files "$cur" ;;
	esac
}

complete -F _tmigr tmigr tmigrd
