package main

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completeCommand is the command that the shell scripts run with the words up to the cursor. The
// parser does not know the command, because it would reject incomplete words.
const completeCommand = "__complete"

// The completion scripts. They query the program, so they never become outdated.
var (
	//go:embed completion/bash.sh
	bashScript string
	//go:embed completion/zsh.sh
	zshScript string
	//go:embed completion/fish.fish
	fishScript string
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Run writes the completion script of a shell.
func (c *completionCmd) Run(p *process) error {
	script := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell]
	_, err := io.WriteString(p.out, script)
	return err
}

// complete writes the completions at the cursor, each on a line with its help.
func complete(app *kong.Application, words []string, out io.Writer) error {
	for _, c := range candidates(app.Node, words) {
		if _, err := fmt.Fprintf(out, "%s\t%s\n", c.word, firstSentence(c.help)); err != nil {
			return err
		}
	}
	return nil
}

// candidate is a possible completion.
type candidate struct{ word, help string }

// candidates returns the completions for the last word. It returns no completions for values that
// only the user knows, such as file names.
func candidates(root *kong.Node, words []string) []candidate {
	// bash splits --locale=fr into three words.
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "=" })
	if len(words) == 0 {
		words = []string{""}
	}
	node, before, partial := root, words[:len(words)-1], words[len(words)-1]
	var open *kong.Flag // the flag that expects a value
	for _, word := range before {
		switch {
		case open != nil:
			open = nil
		case strings.HasPrefix(word, "-"):
			if flag := flagOf(node, word); flag != nil && !flag.IsBool() {
				open = flag
			}
		default:
			if child := childOf(node, word); child != nil {
				node = child
			}
		}
	}
	name, _, assigned := strings.Cut(partial, "=")
	if flag := flagOf(node, name); assigned && flag != nil {
		return filterByPrefix(partial, values(name+"=", flag.Value))
	}
	switch {
	case open != nil:
		return filterByPrefix(partial, values("", open.Value))
	case strings.HasPrefix(partial, "-"):
		return filterByPrefix(partial, flags(node))
	default:
		return filterByPrefix(partial, subcommands(node))
	}
}

// subcommands returns the subcommands of a command, or the values of its argument.
func subcommands(node *kong.Node) []candidate {
	var list []candidate
	for _, child := range node.Children {
		if !child.Hidden && child.Type == kong.CommandNode {
			list = append(list, candidate{child.Name, child.Help})
		}
	}
	for _, arg := range node.Positional {
		list = append(list, values("", arg)...)
	}
	return list
}

// flags returns the flags of a command and its parents.
func flags(node *kong.Node) []candidate {
	var list []candidate
	for n := node; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if !f.Hidden {
				list = append(list, candidate{"--" + f.Name, f.Help})
			}
		}
	}
	return list
}

// values returns the allowed values of v, each with a prefix.
func values(after string, v *kong.Value) []candidate {
	var list []candidate
	for _, one := range v.EnumSlice() {
		if one != "" {
			list = append(list, candidate{after + one, ""})
		}
	}
	return list
}

func filterByPrefix(partial string, list []candidate) []candidate {
	return slices.DeleteFunc(list, func(c candidate) bool { return !strings.HasPrefix(c.word, partial) })
}

// flagOf returns the flag for a word, or nil if the word is not a flag.
func flagOf(node *kong.Node, word string) *kong.Flag {
	for n := node; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// firstSentence returns the first sentence of a help text, to show next to a completion.
func firstSentence(help string) string {
	sentence, _, more := strings.Cut(help, ". ")
	if more {
		sentence += "."
	}
	return sentence
}
