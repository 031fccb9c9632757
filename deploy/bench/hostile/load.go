package hostile

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/pointsman/pointsman/clients/go"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

const (
	callers = 8
	// think is how long an ordinary caller waits after an answer. So the callers alone leave most of the machine idle,
	// and what they wait for is not each other.
	think = 2 * time.Millisecond
)

func request(text []byte) *decisionv1.RouteStatementRequest {
	return &decisionv1.RouteStatementRequest{
		Session:   &decisionv1.Session{Username: username},
		Statement: &decisionv1.Statement{Body: &decisionv1.Statement_RawText{RawText: text}},
	}
}

// ordinary has the ordinary callers ask with RouteStatement for some time, and gives their latencies.
func ordinary(ctx context.Context, c *client.Client, duration time.Duration) ([]time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	end := time.Now().Add(duration)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all []time.Duration
	var failure error
	for caller := range callers {
		wg.Go(func() {
			latencies, err := one(ctx, c, caller, end)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, latencies...)
			if err != nil && failure == nil {
				failure = err
				cancel()
			}
		})
	}
	wg.Wait()
	return all, failure
}

func one(ctx context.Context, c *client.Client, caller int, end time.Time) ([]time.Duration, error) {
	var latencies []time.Duration
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := 0; time.Now().Before(end); i++ {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return latencies, nil
		}
		text := fmt.Sprintf("SELECT name, price FROM products_%d WHERE id = %d AND shop = 'shop-%d'", caller, i, i%100)
		start := time.Now()
		resp, err := c.Decision().RouteStatement(ctx, request([]byte(text)))
		if err != nil {
			return latencies, fmt.Errorf("ordinary caller: %w", err)
		}
		if resp.GetDestinationHostgroup() != readers {
			return latencies, fmt.Errorf("ordinary caller: %q goes to hostgroup %d by rules %v, want %d",
				text, resp.GetDestinationHostgroup(), resp.GetMatchedRules(), readers)
		}
		latencies = append(latencies, time.Since(start))
		timer.Reset(think)
	}
	return latencies, nil
}

// attack is the hostile caller: it asks until stopped, and gives how many answers it had.
type attack struct {
	name string
	size int // of its statements, in bytes
	run  func(ctx context.Context, c *client.Client, texts [][]byte) int64
}

// inFlight is how many statements the hostile caller has unanswered where it does not wait for each answer.
const inFlight = 16

var attacks = []attack{
	{"hostile_unary_p99", 1 << 20, func(ctx context.Context, c *client.Client, texts [][]byte) int64 {
		return repeat(ctx, 1, texts, unary(ctx, c))
	}},
	{"hostile_parallel_p99", 1 << 20, parallel},
	{"hostile_16k_p99", 16 << 10, parallel},
	{"hostile_1k_p99", 1 << 10, parallel},
	{"hostile_stream_p99", 1 << 20, func(ctx context.Context, c *client.Client, texts [][]byte) int64 {
		return repeat(ctx, inFlight, texts, func(req *decisionv1.RouteStatementRequest) error {
			_, err := c.Route(ctx, req)
			return err
		})
	}},
}

func parallel(ctx context.Context, c *client.Client, texts [][]byte) int64 {
	return repeat(ctx, inFlight, texts, unary(ctx, c))
}

func unary(ctx context.Context, c *client.Client) func(*decisionv1.RouteStatementRequest) error {
	return func(req *decisionv1.RouteStatementRequest) error {
		_, err := c.Decision().RouteStatement(ctx, req)
		return err
	}
}

// repeat keeps n statements in flight. Errors don't stop it: to be refused is one way to be held off.
func repeat(ctx context.Context, n int, texts [][]byte, ask func(*decisionv1.RouteStatementRequest) error) int64 {
	var answers, next atomic.Int64
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := ask(request(texts[int(next.Add(1))%len(texts)])); err == nil {
					answers.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return answers.Load()
}

// quantile gives the value below which a share of the latencies lies.
func quantile(latencies []time.Duration, share float64) time.Duration {
	if len(latencies) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(latencies))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}
