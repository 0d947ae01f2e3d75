// Routes requests as grpc-gateway does. Each line of the input is a table with requests, in JSON; each
// line of the output says what became of them.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/grpclog"
)

type rule struct {
	Verb     string `json:"verb"`
	Template string `json:"template"`
}

type request struct {
	Verb string `json:"verb"`
	Path string `json:"path"`
}

type table struct {
	Rules    []rule    `json:"rules"`
	Requests []request `json:"requests"`
}

type outcome struct {
	// Index of the rule, or -1.
	Rule   int               `json:"rule"`
	Status int               `json:"status"`
	Vars   map[string]string `json:"vars"`
}

type answer struct {
	// By rule: why it was refused, or "".
	Faults   []string  `json:"faults"`
	Outcomes []outcome `json:"outcomes"`
}

func route(t table) answer {
	mux := runtime.NewServeMux(runtime.WithUnescapingMode(runtime.UnescapingModeAllExceptSlash))
	faults := make([]string, len(t.Rules))
	var found outcome
	for i, r := range t.Rules {
		err := mux.HandlePath(r.Verb, r.Template, func(_ http.ResponseWriter, _ *http.Request, vars map[string]string) {
			found = outcome{Rule: i, Status: http.StatusOK, Vars: vars}
		})
		if err != nil {
			faults[i] = err.Error()
		}
	}
	outcomes := make([]outcome, 0, len(t.Requests))
	for _, r := range t.Requests {
		found = outcome{Rule: -1}
		u, err := url.ParseRequestURI(r.Path)
		if err != nil {
			outcomes = append(outcomes, outcome{Rule: -1, Status: http.StatusBadRequest})
			continue
		}
		recorder := httptest.NewRecorder()
		mux.ServeHTTP(recorder, &http.Request{Method: r.Verb, URL: u, Header: http.Header{}})
		if found.Rule < 0 {
			found.Status = recorder.Code
		}
		outcomes = append(outcomes, found)
	}
	return answer{Faults: faults, Outcomes: outcomes}
}

func main() {
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(os.Stderr, os.Stderr, os.Stderr))
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	for in.Scan() {
		var t table
		if err := json.Unmarshal(in.Bytes(), &t); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		line, err := json.Marshal(route(t))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		out.Write(line)
		out.WriteByte('\n')
		out.Flush()
	}
}
