package rest

import (
	"io"
	"reflect"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/rest/plain"
)

// writers append the bodies of answers that write themselves, by the type that huma hands
// to the format.
type writers map[reflect.Type]func(dst []byte, body any) []byte

// writable is an answer that may know how its body writes itself.
type writable interface {
	// writer returns what appends bodies of a type; nil leaves that to package json.
	writer() (reflect.Type, func(dst []byte, body any) []byte)
}

// noting is a handler whose answers may write themselves. They are noted before the first request,
// after which writers is only read.
type noting interface{ note(w writers) }

// add notes how the bodies of an answer of type O write themselves, if they do.
func add[O any](w writers) {
	if answer, ok := any(new(O)).(writable); ok {
		if t, f := answer.writer(); f != nil {
			w[t] = f
		}
	}
}

// body is the body of Data[T].
type body[T any] = struct {
	Data    T      `json:"data"`
	Message string `json:"message,omitempty"`
}

func (*Data[T]) writer() (reflect.Type, func([]byte, any) []byte) {
	data := dataWriter[T]()
	if data == nil {
		return nil, nil
	}
	return reflect.TypeFor[body[T]](), func(dst []byte, answer any) []byte {
		b, _ := answer.(body[T])
		dst = data(append(dst, `{"data":`...), &b.Data)
		if b.Message != "" {
			dst = plain.Text(append(dst, `,"message":`...), b.Message)
		}
		return append(dst, '}')
	}
}

func (*Plain[T]) writer() (reflect.Type, func([]byte, any) []byte) {
	data := dataWriter[T]()
	if data == nil {
		return nil, nil
	}
	return reflect.TypeFor[T](), func(dst []byte, answer any) []byte {
		b, _ := answer.(T)
		return data(dst, &b)
	}
}

// dataWriter returns what appends a T that writes itself, or a list of what does; nil for others.
func dataWriter[T any]() func(dst []byte, data *T) []byte {
	t := reflect.TypeFor[T]()
	if _, ok := any(new(T)).(plain.Writer); ok {
		return func(dst []byte, data *T) []byte {
			w, _ := any(data).(plain.Writer)
			return w.AppendJSON(dst)
		}
	}
	if t.Kind() != reflect.Slice || !reflect.PointerTo(t.Elem()).Implements(reflect.TypeFor[plain.Writer]()) {
		return nil
	}
	return func(dst []byte, data *T) []byte {
		dst = append(dst, '[')
		list := reflect.ValueOf(*data)
		for i := range list.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			w, _ := list.Index(i).Addr().Interface().(plain.Writer)
			dst = w.AppendJSON(dst)
		}
		return append(dst, ']')
	}
}

// buffers are for answers on their way out; those of large ones are not kept.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxKept = 64 << 10

// write writes an answer as JSON, with a line end. It panics on one that cannot be encoded, which
// is a programming error, before a byte is sent.
func (w writers) write(out io.Writer, answer any) error {
	if appendTo := w[reflect.TypeOf(answer)]; appendTo != nil {
		kept, _ := buffers.Get().(*[]byte)
		text := append(appendTo((*kept)[:0], answer), '\n')
		_, err := out.Write(text)
		if cap(text) <= maxKept {
			*kept = text
			buffers.Put(kept)
		}
		return err
	}
	text, err := json.Marshal(answer, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err)
	}
	_, err = out.Write(append(text, '\n'))
	return err
}
