package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
)

// policyFile is looked for in the working directory.
const policyFile = ".pbkdf2-gate.yaml"

// invocation is one call of a subcommand: its own flags, arguments, and the
// settings in force.
type invocation struct {
	args   []string
	policy policy.Policy
	ground *ground       // nil without settings
	base   base          // what is measured beside the working directory
	gone   []string      // targets that the pull request takes out of the configuration
	lost   []string      // benchmarks that the base has, and the head has not
	event  *github.Event // nil outside a workflow
	flags  *flag.FlagSet
	// switches that are no settings
	xcrypto    bool
	keep       int
	latest     bool
	folder     bool
	unverified bool
	emulated   bool
	disturbed  bool
	commit     commitFlags
	fromRun    int64
	other      *otherRun // of fromRun
	workflow   string
	author     string
	prf        string
	format     string
}

// own defines the flags that a subcommand has beside the settings.
var own = map[string]func(*flag.FlagSet, *invocation){
	"probe": func(fs *flag.FlagSet, in *invocation) {
		fs.BoolVar(&in.xcrypto, "x-crypto", false, "derive with golang.org/x/crypto/pbkdf2 instead of crypto/pbkdf2")
	},
	"probe-check": func(fs *flag.FlagSet, in *invocation) {
		fs.StringVar(&in.prf, "prf", "", "check this prf alone: sha1, sha256 or sha512 (default: every one that the probe has)")
		fs.StringVar(&in.format, "format", "text", "form of what was found: text or json (default text)")
	},
	"report": func(fs *flag.FlagSet, in *invocation) {
		fs.Int64Var(&in.fromRun, "from-run", 0, "take the results from this run of a workflow, for pull requests whose own token cannot comment")
		fs.StringVar(&in.workflow, "workflow", "", "path of the workflow that --from-run must be a run of")
		fs.StringVar(&in.author, "comment-author", "", "login that the comment is of (default github-actions[bot]); APP[bot] with an app's token")
	},
	"baseline prune": func(fs *flag.FlagSet, in *invocation) {
		fs.IntVar(&in.keep, "keep", 20, "releases to keep, beside the anchor")
	},
	"baseline list": func(fs *flag.FlagSet, in *invocation) {
		fs.BoolVar(&in.latest, "latest", false, "print the name of the newest release only, nothing where there is none")
		fs.BoolVar(&in.folder, "folder", false, "print the folder of the baselines only, whether it exists or not")
	},
	"baseline update": func(fs *flag.FlagSet, in *invocation) {
		fs.BoolVar(&in.unverified, "allow-unverified", false, "record targets whose keys could not be checked")
		fs.BoolVar(&in.emulated, "allow-emulated", false, "record measurements of an emulated CPU")
		fs.BoolVar(&in.disturbed, "allow-disturbed", false, "record measurements with too few undisturbed rounds to judge")
		in.commit.define(fs)
	},
}

func (c *Command) invoke(ctx context.Context, s subcommand, args []string) error {
	in := &invocation{}
	var values []policy.Value
	in.flags = c.flagSet(s, in, &values)
	// Flags may stand before, between and after the other arguments, unless
	// those are another command's.
	for rest := args; ; {
		if err := in.flags.Parse(rest); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				c.usage(c.Stdout, s)
				return err
			}
			return usageError("%s: %v: see `pbkdf2-gate help %s`", s.name, err, s.name)
		}
		parsed := len(rest) - in.flags.NArg()
		rest = in.flags.Args()
		if len(rest) == 0 || s.verbatim || parsed > 0 && args[len(args)-len(rest)-1] == "--" {
			in.args = append(in.args, rest...)
			break
		}
		in.args = append(in.args, rest[0])
		rest = rest[1:]
	}
	if s.settings != nil {
		if err := c.resolve(ctx, s, in, values); err != nil {
			return err
		}
		defer in.ground.close()
	}
	return s.run(c, ctx, in)
}

func (c *Command) flagSet(s subcommand, in *invocation, values *[]policy.Value) *flag.FlagSet {
	fs := flag.NewFlagSet("pbkdf2-gate "+s.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	if len(s.settings) > 0 {
		policy.Flags(fs, values, s.settings...)
	}
	if define := own[s.name]; define != nil {
		define(fs, in)
	}
	return fs
}

// resolve finds the settings in force. Where the subcommand judges a pull
// request, policy and baselines are those of its base.
func (c *Command) resolve(ctx context.Context, s subcommand, in *invocation, flags []policy.Value) error {
	if s.judges || s.measures {
		var err error
		if in.event, err = c.event(); err != nil {
			return err
		}
	}
	if s.measures && in.event != nil {
		if err := in.event.MayMeasure(); err != nil {
			return err
		}
	}
	if in.fromRun != 0 {
		var err error
		if in.other, err = c.findRun(ctx, in); err != nil {
			return err
		}
	}
	var pull *pullRequest
	if s.judges {
		pull = in.pullRequest()
	}
	in.ground = c.ground(ctx, pull)
	var inputs []policy.Value
	if s.inputs {
		inputs = policy.Inputs(c.input)
	}
	if err := c.settle(ctx, s, in, inputs, flags); err != nil {
		return err
	}
	return in.ground.baselines(ctx, &in.policy)
}

// input is what the workflow gave for a setting.
func (c *Command) input(name string) string {
	return c.getenv("INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
}

func readAtMost(path string, n int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: write the settings into one, or remove it", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}

// usage writes what `help COMMAND` shows.
func (c *Command) usage(w io.Writer, s subcommand) {
	fmt.Fprintf(w, "Usage: pbkdf2-gate %s", s.name)
	fs := c.flagSet(s, &invocation{}, new([]policy.Value))
	flags := false
	fs.VisitAll(func(*flag.Flag) { flags = true })
	if flags {
		fmt.Fprint(w, " [FLAGS]")
	}
	if s.synopsis != "" {
		fmt.Fprint(w, " "+s.synopsis)
	}
	fmt.Fprintf(w, "\n\n%s\n", sentence(s.summary))
	if s.help != "" {
		fmt.Fprintf(w, "%s\n", s.help)
	}
	if !flags {
		return
	}
	fmt.Fprint(w, "\nFlags:\n")
	args := map[string]string{}
	for _, x := range policy.Settings {
		args[x.Name] = x.Arg
	}
	fs.VisitAll(func(f *flag.Flag) {
		arg := args[f.Name]
		switch f.Name {
		case "keep", "from-run":
			arg = "N"
		case "commit-to", "into":
			arg = "BRANCH"
		case "workflow":
			arg = "PATH"
		case "comment-author":
			arg = "LOGIN"
		}
		def := ""
		if f.Name == "keep" {
			def = fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(w, "  --%s %s\n        %s%s\n", f.Name, arg, f.Usage, def)
	})
}

func sentence(s string) string {
	return string(s[0]-'a'+'A') + s[1:] + "."
}

// noArgs refuses words that a subcommand has no use for.
func (in *invocation) noArgs() error {
	if len(in.args) > 0 {
		return usageError("%s takes no argument, got %q: a flag's value follows it directly", in.flags.Name(), in.args[0])
	}
	return nil
}

// path is a file or folder that the caller named, seen from the working
// directory.
func (c *Command) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(c.Dir, p)
}
