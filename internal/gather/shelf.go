package gather

import "sync"

// Shelf keeps values by key in a bounded amount of memory, those that were used last. It is
// safe for concurrent use; values are shared and must not be changed.
type Shelf[K comparable, V any] struct {
	most int
	size func(K, V) int

	mu         sync.RWMutex
	young, old map[K]V
	bytes      int // of young
}

// perEntry is about what a map takes for an entry, in bytes.
const perEntry = 64

// NewShelf returns a shelf of some bytes at most, by what size says of a key and its value.
func NewShelf[K comparable, V any](most int, size func(K, V) int) *Shelf[K, V] {
	return &Shelf[K, V]{most: most, size: size, young: map[K]V{}}
}

// Get returns the value of a key, if there is one that may be used.
func (s *Shelf[K, V]) Get(key K, use func(V) bool) (value V, ok bool) {
	s.mu.RLock()
	value, young := s.young[key]
	ok = young
	if !young {
		value, ok = s.old[key]
	}
	s.mu.RUnlock()
	if !ok || !use(value) {
		var none V
		return none, false
	}
	if !young {
		s.Put(key, value)
	}
	return value, true
}

// Put keeps a value. What was used since the young were begun survives the old.
func (s *Shelf[K, V]) Put(key K, value V) {
	size := perEntry + s.size(key, value)
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.young[key]; ok {
		s.bytes -= perEntry + s.size(key, last)
	}
	if s.bytes+size > s.most/2 {
		s.old, s.young, s.bytes = s.young, map[K]V{}, 0
	}
	if size <= s.most/2 {
		s.young[key] = value
		s.bytes += size
	}
}
