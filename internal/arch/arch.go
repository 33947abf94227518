// Package arch holds, in its tests, the rules of the project's architecture: who
// may import whom, where a library may be used, how large a file may be.
package arch
