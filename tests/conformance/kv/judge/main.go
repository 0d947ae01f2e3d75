// Judges a report of what clients did and saw with the validators of etcd's own robustness tests.
// The exit code is 0 if every guarantee held, 1 if one broke, 2 if there was nothing to judge.
package main

import (
	"fmt"
	"os"
	"time"

	"go.etcd.io/etcd/tests/v3/robustness/report"
	"go.etcd.io/etcd/tests/v3/robustness/validate"
	"go.uber.org/zap"
)

// How long the search for an order of all operations may take.
const linearizationLimit = 5 * time.Minute

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return value
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: judge REPORT")
		os.Exit(2)
	}
	log, folder := must(zap.NewDevelopment(zap.IncreaseLevel(zap.WarnLevel))), os.Args[1]
	clients := must(report.LoadClientReports(folder))
	persisted := must(report.LoadClusterPersistedRequests(log, folder))
	traffic := must(report.LoadTrafficDetail(folder))
	// Without these two some validators would be left out.
	if len(clients) == 0 || len(persisted) == 0 {
		fmt.Fprintf(os.Stderr, "%d clients, %d persisted requests\n", len(clients), len(persisted))
		os.Exit(2)
	}
	config := validate.Config{ExpectRevisionUnique: traffic.ExpectUniqueRevision}
	result := validate.ValidateAndReturnVisualize(log, config, clients, persisted, linearizationLimit)
	operations, watches, events := 0, 0, 0
	for _, client := range clients {
		operations += len(client.KeyValue)
		watches += len(client.Watch)
		events += client.WatchEventCount()
	}
	fmt.Printf("%d operations, %d watches, %d events, %d persisted\n", operations, watches, events, len(persisted))
	if err := result.Error(); err != nil {
		if os.Getenv("JUDGE_HISTORY") != "" {
			_ = result.Linearization.Visualize(log, os.Getenv("JUDGE_HISTORY"))
		}
		fmt.Printf("assumptions %q, linearization %q, watch %q, serializable %q: %v\n", result.Assumptions,
			result.Linearization.Result, result.Watch, result.Serializable, err)
		os.Exit(1)
	}
}
