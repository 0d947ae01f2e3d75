// Judges a report of what clients did and saw with the validators of etcd's own robustness tests.
// The exit code is 0 if every guarantee held, 1 if one broke, 2 if there was nothing to judge.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"time"

	"go.etcd.io/etcd/tests/v3/robustness/model"
	"go.etcd.io/etcd/tests/v3/robustness/report"
	"go.etcd.io/etcd/tests/v3/robustness/validate"
	"go.uber.org/zap"
)

// How long the search for an order of all operations may take.
const linearizationLimit = 3 * time.Minute

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return value
}

// What a cache showed, at a revision; when, nobody says.
type look struct {
	Request model.EtcdRequest
	Range   model.RangeResponse
}

// What the members wrote down: as `persisted.json` of a store that is no etcd, or in the logs of etcds.
func writtenDown(log *zap.Logger, folder string) ([]model.EtcdRequest, error) {
	file, err := os.Open(folder + "/persisted.json")
	if errors.Is(err, fs.ErrNotExist) {
		return report.LoadClusterPersistedRequests(log, folder)
	}
	defer must(file, err).Close()
	var persisted []model.EtcdRequest
	for decoder := json.NewDecoder(file); decoder.More(); {
		var one model.EtcdRequest
		if err := decoder.Decode(&one); err != nil {
			return nil, err
		}
		persisted = append(persisted, one)
	}
	return persisted, nil
}

// Compares what caches showed with what the store was at their revision. Returns how many there were.
func judgeLooks(path string, persisted []model.EtcdRequest) (int, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	defer must(file, err).Close()
	replay := model.NewReplay(persisted)
	count := 0
	for decoder := json.NewDecoder(file); decoder.More(); count++ {
		var one look
		if err := decoder.Decode(&one); err != nil {
			return count, err
		}
		state, err := replay.StateForRevision(one.Request.Range.Revision)
		if err != nil {
			return count, err
		}
		_, want := state.Step(one.Request)
		if !reflect.DeepEqual(want.Range, &one.Range) {
			return count, fmt.Errorf("at revision %d a cache showed %+v, not %+v",
				one.Request.Range.Revision, one.Range, *want.Range)
		}
	}
	return count, nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: judge REPORT")
		os.Exit(2)
	}
	log, folder := must(zap.NewDevelopment(zap.IncreaseLevel(zap.WarnLevel))), os.Args[1]
	clients := must(report.LoadClientReports(folder))
	persisted := must(writtenDown(log, folder))
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
	looks, looked := judgeLooks(folder+"/looks.json", persisted)
	fmt.Printf("%d operations, %d watches, %d events, %d looks at caches, %d persisted\n", operations, watches,
		events, looks, len(persisted))
	if looked != nil {
		fmt.Println(looked)
		os.Exit(1)
	}
	if err := result.Error(); err != nil {
		if os.Getenv("JUDGE_HISTORY") != "" {
			_ = result.Linearization.Visualize(log, os.Getenv("JUDGE_HISTORY"))
		}
		fmt.Printf("assumptions %q, linearization %q, watch %q, serializable %q: %v\n", result.Assumptions,
			result.Linearization.Result, result.Watch, result.Serializable, err)
		os.Exit(1)
	}
}
