package usage

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// journal stands in for the ledger: it notes the batches and fails those with a
// request of the meter "bad".
type journal struct {
	mu      sync.Mutex
	batches [][]string
	entered chan struct{} // told of each batch, if not nil
	resume  chan struct{} // each batch waits for it, if not nil
}

var errBad = errors.New("a bad row")

func (j *journal) decide(_ context.Context, submissions []*submission) ([]verdict, error) {
	if j.entered != nil {
		j.entered <- struct{}{}
		<-j.resume
	}
	var codes []string
	for _, r := range submissions {
		codes = append(codes, r.MeterCode)
	}
	j.mu.Lock()
	j.batches = append(j.batches, codes)
	j.mu.Unlock()
	if slices.Contains(codes, "panic") {
		panic("lost")
	}
	if slices.Contains(codes, "bad") {
		return nil, errBad
	}
	verdicts := make([]verdict, len(submissions))
	for i, code := range codes {
		verdicts[i].event.MeterCode = code
		if code == "refused" {
			verdicts[i] = verdict{err: ErrDuplicate}
		}
	}
	return verdicts, nil
}

// ask submits in the background and returns once the request is queued.
func ask(ctx context.Context, t *testing.T, w *writer, code string) <-chan verdict {
	t.Helper()
	out := make(chan verdict, 1)
	queued := len(w.queue)
	go func() {
		verdicts, err := w.submit(ctx, &submission{Recording: Recording{MeterCode: code}})
		if err != nil {
			verdicts = []verdict{{err: err}}
		}
		out <- verdicts[0]
	}()
	for len(w.queue) == queued {
		select {
		case o := <-out:
			t.Fatalf("%s was not queued: %v", code, o.err)
		default:
			runtime.Gosched()
		}
	}
	return out
}

func start(t *testing.T, w *writer) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.run(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func TestWriterStoresWhatWaitsTogether(t *testing.T) {
	t.Parallel()
	j := &journal{}
	w := newWriter(j.decide, slog.New(slog.DiscardHandler), 8)
	a, b, c := ask(t.Context(), t, w, "a"), ask(t.Context(), t, w, "refused"), ask(t.Context(), t, w, "c")
	start(t, w)
	if o := <-a; o.err != nil || o.event.MeterCode != "a" {
		t.Errorf("a: %v", o)
	}
	if o := <-b; !errors.Is(o.err, ErrDuplicate) {
		t.Errorf("refused: %v", o)
	}
	if o := <-c; o.err != nil || o.event.MeterCode != "c" {
		t.Errorf("c: %v", o)
	}
	if diff := cmp.Diff([][]string{{"a", "refused", "c"}}, j.batches); diff != "" {
		t.Errorf("batches (-want +got)\n%s", diff)
	}
}

// A batch is told of once, by what became of its events.
func TestWriterTellsWhatBecameOfABatch(t *testing.T) {
	t.Parallel()
	var told [][4]int
	w := newWriter((&journal{}).decide, slog.New(slog.DiscardHandler), 8)
	w.observe = func(accepted, duplicate, overQuota, failed int) {
		told = append(told, [4]int{accepted, duplicate, overQuota, failed})
	}
	for _, code := range []string{"a", "refused", "bad"} {
		ask(t.Context(), t, w, code)
	}
	start(t, w)() // what waits is written before it ends
	w.tell([]verdict{{err: ErrQuotaExceeded.With("limit", 1)}})
	total := [4]int{}
	for _, one := range told {
		for i, n := range one {
			total[i] += n
		}
	}
	if len(told) != 2 || total != [4]int{1, 1, 1, 1} {
		t.Errorf("told %v", told)
	}
}

func TestWriterBoundsABatch(t *testing.T) {
	t.Parallel()
	j := &journal{}
	w := newWriter(j.decide, slog.New(slog.DiscardHandler), maxBatch+1)
	var last <-chan verdict
	for range maxBatch + 1 {
		last = ask(t.Context(), t, w, "a")
	}
	start(t, w)
	<-last
	if len(j.batches) != 2 || len(j.batches[0]) != maxBatch || len(j.batches[1]) != 1 {
		t.Errorf("got %d batches, the first of %d", len(j.batches), len(j.batches[0]))
	}
}

func TestWriterFailsABadRequestAlone(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"bad", "panic"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			j := &journal{}
			w := newWriter(j.decide, slog.New(slog.DiscardHandler), 8)
			a, bad, c := ask(t.Context(), t, w, "a"), ask(t.Context(), t, w, code), ask(t.Context(), t, w, "c")
			start(t, w)
			if o := <-a; o.err != nil {
				t.Errorf("a: %v", o.err)
			}
			if o := <-bad; o.err == nil || code == "bad" && !errors.Is(o.err, errBad) {
				t.Errorf("%s: %v", code, o.err)
			}
			if o := <-c; o.err != nil {
				t.Errorf("c: %v", o.err)
			}
			if diff := cmp.Diff([][]string{{"a", code, "c"}, {"a"}, {code}, {"c"}}, j.batches); diff != "" {
				t.Errorf("batches (-want +got)\n%s", diff)
			}
		})
	}
}

func TestWriterRefusesWhenFull(t *testing.T) {
	t.Parallel()
	w := newWriter((&journal{}).decide, slog.New(slog.DiscardHandler), 1)
	waits := ask(t.Context(), t, w, "a")
	if _, err := w.submit(t.Context(), &submission{}); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	start(t, w)
	if o := <-waits; o.err != nil {
		t.Errorf("the one that waited: %v", o.err)
	}
}

func TestWriterLeavesOutWhoGaveUp(t *testing.T) {
	t.Parallel()
	j := &journal{}
	w := newWriter(j.decide, slog.New(slog.DiscardHandler), 8)
	ctx, cancel := context.WithCancel(t.Context())
	gone := ask(ctx, t, w, "gone")
	cancel()
	if o := <-gone; !errors.Is(o.err, context.Canceled) {
		t.Errorf("gone: %v", o.err)
	}
	stays := ask(t.Context(), t, w, "stays")
	start(t, w)
	<-stays
	if diff := cmp.Diff([][]string{{"stays"}}, j.batches); diff != "" {
		t.Errorf("batches (-want +got)\n%s", diff)
	}
}

func TestWriterFinishesWhatWaitsWhenStopped(t *testing.T) {
	t.Parallel()
	j := &journal{entered: make(chan struct{}), resume: make(chan struct{})}
	w := newWriter(j.decide, slog.New(slog.DiscardHandler), 8)
	first := ask(t.Context(), t, w, "first")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.run(ctx) }()
	<-j.entered
	second := ask(t.Context(), t, w, "second")
	cancel()
	j.resume <- struct{}{}
	<-j.entered
	j.resume <- struct{}{}
	if o := <-first; o.err != nil {
		t.Errorf("first: %v", o.err)
	}
	if o := <-second; o.err != nil {
		t.Errorf("second: %v", o.err)
	}
	<-done
	if _, err := w.submit(t.Context(), &submission{}); !errors.Is(err, ErrBusy) {
		t.Errorf("after the end: got %v, want ErrBusy", err)
	}
}

// What one caller submits is one batch, however large; of one that fails only
// what is wrong does.
func TestWriterKeepsASubmissionTogether(t *testing.T) {
	t.Parallel()
	j := &journal{}
	w := newWriter(j.decide, slog.New(slog.DiscardHandler), 8)
	start(t, w)
	large := make([]*submission, maxBatch+10)
	for i := range large {
		large[i] = &submission{Recording: Recording{MeterCode: "a"}}
	}
	if verdicts, err := w.submit(t.Context(), large...); err != nil || len(verdicts) != len(large) {
		t.Errorf("%d verdicts, %v", len(verdicts), err)
	}
	mixed := []*submission{{Recording: Recording{MeterCode: "a"}}, {Recording: Recording{MeterCode: "bad"}}, {Recording: Recording{MeterCode: "refused"}}}
	verdicts, err := w.submit(t.Context(), mixed...)
	if err != nil || verdicts[0].err != nil || !errors.Is(verdicts[1].err, errBad) || !errors.Is(verdicts[2].err, ErrDuplicate) {
		t.Errorf("%v, %v", verdicts, err)
	}
	if len(j.batches[0]) != len(large) {
		t.Errorf("the first batch has %d events", len(j.batches[0]))
	}
	if diff := cmp.Diff([][]string{{"a", "bad", "refused"}, {"a"}, {"bad"}, {"refused"}}, j.batches[1:]); diff != "" {
		t.Errorf("batches (-want +got)\n%s", diff)
	}
}

// The queue is bounded in events too, and takes new ones once some are written.
func TestWriterBoundsWhatWaits(t *testing.T) {
	t.Parallel()
	w := newWriter((&journal{}).decide, slog.New(slog.DiscardHandler), 8)
	full := make([]*submission, maxQueued)
	for i := range full {
		full[i] = &submission{Recording: Recording{MeterCode: "a"}}
	}
	answered := make(chan error, 1)
	go func() { _, err := w.submit(t.Context(), full...); answered <- err }()
	for len(w.queue) == 0 {
		runtime.Gosched()
	}
	if _, err := w.submit(t.Context(), full[0]); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	start(t, w)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if _, err := w.submit(t.Context(), full[0]); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
