// Package arch checks the rules of the project's architecture with tests: which packages can import
// each other, where a library can be used, how large packages, files and functions can be, and that
// the documentation matches the code.
package arch
