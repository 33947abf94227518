package gather

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
)

// Questions that come while a look-up runs share the next one, and each gets its
// own answer.
func TestGather(t *testing.T) {
	t.Parallel()
	entered, resume := make(chan struct{}), make(chan struct{})
	var sizes []int
	g := New(func(_ context.Context, keys []string) (map[string]int, error) {
		entered <- struct{}{}
		<-resume
		sizes = append(sizes, len(keys))
		values := map[string]int{}
		for _, key := range keys {
			if n, err := strconv.Atoi(key); err == nil {
				values[key] = n
			}
		}
		return values, nil
	}, 1)
	var wg sync.WaitGroup
	ask := func(key string, want int, known bool) {
		wg.Go(func() {
			if got, found, err := g.Get(t.Context(), key); got != want || found != known || err != nil {
				t.Errorf("%s: %d, %t, %v", key, got, found, err)
			}
		})
	}
	ask("1", 1, true)
	<-entered
	for i := range 20 {
		ask(strconv.Itoa(i%10), i%10, true)
	}
	ask("nobody", 0, false)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := g.Get(gone, "5"); !errors.Is(err, context.Canceled) {
		t.Errorf("gone: %v", err)
	}
	for waiting := 0; waiting < 22; { // the one who is gone is still in the list
		g.mu.Lock()
		waiting = len(g.waiting)
		g.mu.Unlock()
	}
	resume <- struct{}{}
	<-entered
	resume <- struct{}{}
	wg.Wait()
	if len(sizes) != 2 || sizes[0] != 1 || sizes[1] != 22 {
		t.Errorf("look-ups of %v", sizes)
	}
}

// What goes wrong is told to all who asked, and the next question is looked up.
func TestGatherFails(t *testing.T) {
	t.Parallel()
	errDown := errors.New("down")
	g := New(func(_ context.Context, keys []string) (map[string]int, error) {
		if keys[0] == "panic" {
			panic("lost")
		}
		return nil, errDown
	}, 2)
	if _, _, err := g.Get(t.Context(), "panic"); err == nil {
		t.Error("a panic is no error")
	}
	if _, _, err := g.Get(t.Context(), "a"); !errors.Is(err, errDown) {
		t.Errorf("got %v", err)
	}
}
