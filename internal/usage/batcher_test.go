package usage

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// testVerdict is the verdict for a code.
type testVerdict struct {
	code string
	err  error
}

var (
	errBad     = errors.New("a bad row")
	errRefused = errors.New("refused")
	errBusy    = errors.New("busy")
)

// testJournal records the batches, and fails batches that contain the code "bad".
type testJournal struct {
	mu      sync.Mutex
	batches [][]string
	entered chan struct{} // receives a token per batch, if not nil
	resume  chan struct{} // each batch waits for a token, if not nil
}

func (j *testJournal) decide(_ context.Context, submissions []string) ([]testVerdict, error) {
	if j.entered != nil {
		j.entered <- struct{}{}
		<-j.resume
	}
	j.mu.Lock()
	j.batches = append(j.batches, slices.Clone(submissions))
	j.mu.Unlock()
	if slices.Contains(submissions, "panic") {
		panic("lost")
	}
	if slices.Contains(submissions, "bad") {
		return nil, errBad
	}
	verdicts := make([]testVerdict, len(submissions))
	for i, code := range submissions {
		verdicts[i].code = code
		if code == "refused" {
			verdicts[i] = testVerdict{err: errRefused}
		}
	}
	return verdicts, nil
}

func newWriter(j *testJournal, calls, batches int) *batcher[string, testVerdict] {
	return newBatcher(batcherConfig[string, testVerdict]{
		Decide: j.decide, Failed: func(err error) testVerdict { return testVerdict{err: err} }, Busy: errBusy,
		Log: slog.New(slog.DiscardHandler), Timeout: time.Minute, Calls: calls, Batches: batches,
	})
}

// ask submits in the background and returns once the call is queued.
func ask(ctx context.Context, t *testing.T, w *batcher[string, testVerdict], code string) <-chan testVerdict {
	t.Helper()
	out := make(chan testVerdict, 1)
	queued := len(w.queue)
	go func() {
		verdicts, err := w.Submit(ctx, code)
		if err != nil {
			verdicts = []testVerdict{{err: err}}
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

func start(t *testing.T, w *batcher[string, testVerdict]) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func TestWriterStoresWaitingRequestsTogether(t *testing.T) {
	t.Parallel()
	j := &testJournal{}
	w := newWriter(j, 8, 1)
	a, b, c := ask(t.Context(), t, w, "a"), ask(t.Context(), t, w, "refused"), ask(t.Context(), t, w, "c")
	start(t, w)
	if o := <-a; o.err != nil || o.code != "a" {
		t.Errorf("a: %v", o)
	}
	if o := <-b; !errors.Is(o.err, errRefused) {
		t.Errorf("refused: %v", o)
	}
	if o := <-c; o.err != nil || o.code != "c" {
		t.Errorf("c: %v", o)
	}
	if diff := cmp.Diff([][]string{{"a", "refused", "c"}}, j.batches); diff != "" {
		t.Errorf("batches (-want +got)\n%s", diff)
	}
}

// Observe is called once per batch, with the verdicts of all its submissions.
func TestWriterIsObserved(t *testing.T) {
	t.Parallel()
	var observed [][]testVerdict
	w := newWriter(&testJournal{}, 8, 1)
	w.Observe = func(verdicts []testVerdict) { observed = append(observed, slices.Clone(verdicts)) }
	for _, code := range []string{"a", "refused", "bad"} {
		ask(t.Context(), t, w, code)
	}
	start(t, w)() // queued submissions are stored before it returns
	if len(observed) != 1 || len(observed[0]) != 3 || observed[0][0].err != nil ||
		!errors.Is(observed[0][1].err, errRefused) || !errors.Is(observed[0][2].err, errBad) {
		t.Errorf("observed %v", observed)
	}
}

func TestWriterBoundsABatch(t *testing.T) {
	t.Parallel()
	j := &testJournal{}
	w := newWriter(j, maxBatch+1, 1)
	var last <-chan testVerdict
	for range maxBatch + 1 {
		last = ask(t.Context(), t, w, "a")
	}
	start(t, w)
	<-last
	if len(j.batches) != 2 || len(j.batches[0]) != maxBatch || len(j.batches[1]) != 1 {
		t.Errorf("got %d batches, the first of %d", len(j.batches), len(j.batches[0]))
	}
}

func TestWriterFailsOnlyTheBadRequest(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"bad", "panic"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			j := &testJournal{}
			w := newWriter(j, 8, 1)
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
	w := newWriter(&testJournal{}, 1, 1)
	waits := ask(t.Context(), t, w, "a")
	if _, err := w.Submit(t.Context(), "a"); !errors.Is(err, errBusy) {
		t.Errorf("got %v, want errBusy", err)
	}
	start(t, w)
	if o := <-waits; o.err != nil {
		t.Errorf("waiting event: %v", o.err)
	}
}

func TestWriterSkipsCanceledRequests(t *testing.T) {
	t.Parallel()
	j := &testJournal{}
	w := newWriter(j, 8, 1)
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

func TestWriterDrainsOnStop(t *testing.T) {
	t.Parallel()
	j := &testJournal{entered: make(chan struct{}), resume: make(chan struct{})}
	w := newWriter(j, 8, 1)
	first := ask(t.Context(), t, w, "first")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
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
	if _, err := w.Submit(t.Context(), "a"); !errors.Is(err, errBusy) {
		t.Errorf("after the end: got %v, want errBusy", err)
	}
}

// The submissions of one call stay in one batch, however large. If the batch fails, only the
// invalid submissions fail.
func TestWriterKeepsASubmissionTogether(t *testing.T) {
	t.Parallel()
	j := &testJournal{}
	w := newWriter(j, 8, 1)
	start(t, w)
	large := make([]string, maxBatch+10)
	for i := range large {
		large[i] = "a"
	}
	if verdicts, err := w.Submit(t.Context(), large...); err != nil || len(verdicts) != len(large) {
		t.Errorf("%d verdicts, %v", len(verdicts), err)
	}
	mixed := []string{"a", "bad", "refused"}
	verdicts, err := w.Submit(t.Context(), mixed...)
	if err != nil || verdicts[0].err != nil || !errors.Is(verdicts[1].err, errBad) || !errors.Is(verdicts[2].err, errRefused) {
		t.Errorf("%v, %v", verdicts, err)
	}
	if len(j.batches[0]) != len(large) {
		t.Errorf("the first batch has %d events", len(j.batches[0]))
	}
	if diff := cmp.Diff([][]string{{"a", "bad", "refused"}, {"a"}, {"bad"}, {"refused"}}, j.batches[1:]); diff != "" {
		t.Errorf("batches (-want +got)\n%s", diff)
	}
}

// The queue also limits the number of submissions, and accepts new ones once queued ones are
// stored.
func TestWriterLimitsItsQueue(t *testing.T) {
	t.Parallel()
	w := newWriter(&testJournal{}, 8, 1)
	full := make([]string, maxQueued)
	for i := range full {
		full[i] = "a"
	}
	answered := make(chan error, 1)
	go func() { _, err := w.Submit(t.Context(), full...); answered <- err }()
	for len(w.queue) == 0 {
		runtime.Gosched()
	}
	if _, err := w.Submit(t.Context(), full[0]); !errors.Is(err, errBusy) {
		t.Errorf("got %v, want errBusy", err)
	}
	start(t, w)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if _, err := w.Submit(t.Context(), full[0]); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// With several slots, other batches overtake a slow batch. Run waits for the slow batch before it
// returns.
func TestWriterOvertakesASlowBatch(t *testing.T) {
	t.Parallel()
	j := &testJournal{entered: make(chan struct{}), resume: make(chan struct{})}
	w := newWriter(j, 8, 2)
	answers := make(chan error, 3)
	submit := func() {
		verdicts, err := w.Submit(t.Context(), "a")
		if err == nil {
			err = verdicts[0].err
		}
		answers <- err
	}
	stop := start(t, w)
	for range 2 {
		go submit()
		<-j.entered // the second batch enters while the first is being stored
	}
	go submit()
	j.resume <- struct{}{}
	<-j.entered
	stopped := make(chan struct{})
	go func() { defer close(stopped); stop() }()
	j.resume <- struct{}{}
	j.resume <- struct{}{}
	<-stopped
	for range 3 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
}

// Under steady load, a batch waits for two fifths of the calls of the previous two batches,
// including its first call, and stores them together.
func TestWriterGathers(t *testing.T) {
	t.Parallel()
	j := &testJournal{}
	w := newWriter(j, 32, 1)
	w.most = time.Hour
	answers := make(chan error, 14)
	submit := func(code string) {
		_, err := w.Submit(t.Context(), code)
		answers <- err
	}
	for range 10 {
		go submit("a")
	}
	for len(w.queue) < 10 {
		runtime.Gosched()
	}
	start(t, w)
	for range 10 {
		if err := <-answers; err != nil {
			t.Fatal(err)
		}
	}
	go submit("b")
	for w.wanted.Load() == 0 {
		if len(answers) > 0 {
			t.Fatal("a batch does not wait for more calls")
		}
		runtime.Gosched()
	}
	for range 3 { // four calls are 2/5 of 10
		go submit("b")
	}
	for range 4 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if n := len(j.batches); n != 2 || len(j.batches[1]) != 4 {
		t.Errorf("%d batches, the last of %d", n, len(j.batches[n-1]))
	}
}

// The wait for further calls is limited.
func TestWriterGathersForAWhile(t *testing.T) {
	t.Parallel()
	j := &testJournal{}
	w := newWriter(j, 32, 1)
	for range 20 {
		ask(t.Context(), t, w, "a")
	}
	start(t, w)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, code := range []string{"alone", "again", "once more"} {
		if verdicts, err := w.Submit(ctx, code); err != nil || verdicts[0].code != code {
			t.Errorf("%s: %v, %v", code, verdicts, err)
		}
	}
}
