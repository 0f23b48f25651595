// SPDX-License-Identifier: GPL-2.0-or-later

// The service as a Varlink library sees it that is not ours: main SOCKET.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/varlink/go/varlink"
	"github.com/varlink/go/varlink/idl"
)

var n, failed int

func ok(good bool, name string, details ...interface{}) {
	n++
	if good {
		fmt.Printf("ok %d - %s\n", n, name)
		return
	}
	failed = 1
	fmt.Printf("not ok %d - %s\n# %v\n", n, name, details)
}

func descriptions(ctx context.Context, c *varlink.Connection) {
	var vendor, product, version, url string
	var interfaces []string
	err := c.GetInfo(ctx, &vendor, &product, &version, &url, &interfaces)
	ok(err == nil && product == "tmigrd" && len(interfaces) == 2, "GetInfo", err, interfaces)
	for _, name := range interfaces {
		text, err := c.GetInterfaceDescription(ctx, name)
		ok(err == nil, "description of "+name, err)
		parsed, err := idl.New(text)
		ok(err == nil && parsed.Name == name, name+" is well formed", err)
	}
}

func calls(ctx context.Context, c *varlink.Connection) {
	var status struct {
		Version string `json:"version"`
		Start   int64  `json:"start_ns"`
	}
	err := c.Call(ctx, "org.tmigrd.Status", nil, &status)
	ok(err == nil && status.Version != "" && status.Start > 0, "Status", err, status)
	var window struct {
		Window int64 `json:"window"`
	}
	err = c.Call(ctx, "org.tmigrd.OpenWindow", nil, &window)
	ok(err == nil && window.Window > 0, "OpenWindow", err)
	var closed struct {
		Report map[string]json.RawMessage `json:"report"`
	}
	err = c.Call(ctx, "org.tmigrd.CloseWindow", window, &closed)
	ok(err == nil && string(closed.Report["schema"]) == `"tmigr-report"`, "CloseWindow", err)
	err = c.Call(ctx, "org.tmigrd.CloseWindow", window, &closed)
	e, typed := err.(*varlink.Error)
	ok(typed && e.Name == "org.tmigrd.NoSuchWindow", "an error of our interface", err)
	err = c.Call(ctx, "org.tmigrd.Nope", nil, nil)
	_, typed = err.(*varlink.MethodNotFound)
	ok(typed, "an error of the service interface", err)
}

func stream(ctx context.Context, c *varlink.Connection) {
	period := map[string]int{"period_ms": 1000}
	receive, err := c.Send(ctx, "org.tmigrd.Subscribe", period, varlink.More)
	ok(err == nil, "Subscribe", err)
	for i := 0; i < 2; i++ {
		var sample struct {
			Report map[string]json.RawMessage `json:"report"`
		}
		flags, err := receive(ctx, &sample)
		ok(err == nil && flags&varlink.Continues != 0 && sample.Report["window_ns"] != nil,
			"a sample", err, flags)
	}
}

func main() {
	ctx := context.Background()
	c, err := varlink.NewConnection(ctx, "unix:"+os.Args[1])
	ok(err == nil, "connect", err)
	if err == nil {
		descriptions(ctx, c)
		calls(ctx, c)
		stream(ctx, c)
		c.Close()
	}
	fmt.Printf("1..%d\n", n)
	os.Exit(failed)
}
