package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/gitrepo"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/measure"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/target"
)

// workbench has the sides that are measured, built.
type workbench struct {
	head, base *side // base is nil where there is none
	tree       *gitrepo.Worktree
}

// side is a tree with its targets.
type side struct {
	name   string // result.Head or result.Base
	policy policy.Policy
	tree   target.Side
	commit string // empty outside git
	date   time.Time
	built  []target.Built
	notes  []string
}

// item is one target of one side.
type item struct {
	*target.Built
	side *side
	lone string // why the base, which there is, has no such target
	was  string // the base's specification, of a head that has another
}

// layOut builds the working directory's targets in specs, and beside them the
// base's where there is one. What goes wrong with the base is a notice, and
// there is no base then; with a target, its outcome. The workbench is to be
// closed, even with an error, which is the end of ctx or the machine's.
func (c *Command) layOut(ctx context.Context, in *invocation, specs []target.Spec, temp string) (*workbench, error) {
	w := &workbench{}
	notice := func(format string, args ...any) {
		in.ground.notices = append(in.ground.notices, fmt.Sprintf(format, args...))
	}
	self, err := c.Self()
	if err != nil {
		return w, fmt.Errorf("find this program, which is the built-in probe: %w", err)
	}
	tree := target.Side{Self: self, Dir: c.Dir, Environ: c.Environ, Log: c.buildLog(in)}
	if tree.Debug, err = c.debug(); err != nil {
		return w, err
	}
	w.head = &side{name: result.Head, policy: in.policy, tree: tree}
	if w.head.commit, w.head.date, err = gitrepo.Head(ctx, c.Dir); err != nil {
		if !errors.Is(err, gitrepo.ErrNone) {
			fmt.Fprintf(c.Stderr, "pbkdf2-gate: the commit is not recorded: %v\n", err)
		}
		w.head.date = c.Now().UTC().Truncate(time.Second)
	}
	var baseSpecs []target.Spec
	if in.base.commit != "" {
		if baseSpecs, err = targets(in.base.policy); err == nil {
			err = target.CheckBuild(in.base.policy.Build)
		}
		if err == nil {
			w.tree, err = gitrepo.Checkout(ctx, c.Dir, in.base.commit, filepath.Join(temp, "tree"))
		}
		if ctx.Err() != nil {
			return w, ctx.Err()
		}
		if err != nil {
			notice("not measured beside its base %.12s, which could not be laid out: %v", in.base.commit, err)
		} else {
			w.base = &side{name: result.Base, policy: in.base.policy, tree: tree, commit: in.base.commit, notes: w.tree.Notes}
			w.base.tree.Dir = w.tree.Dir
			if w.base.date, err = gitrepo.CommitDate(ctx, c.Dir, in.base.commit); err != nil {
				return w, err
			}
		}
	}
	var seals map[string]string
	if w.base != nil {
		fmt.Fprintf(c.Stderr, "building the base, %.12s\n", w.base.commit)
		if err := w.base.build(ctx, baseSpecs, filepath.Join(temp, "base")); err != nil {
			return w, err
		}
		w.base.lacking()
		seals = w.base.sealed()
		fmt.Fprintln(c.Stderr, "building the head")
	}
	before, _ := gitrepo.Tracked(ctx, c.Dir)
	if err := w.head.build(ctx, specs, filepath.Join(temp, "head")); err != nil {
		return w, err
	}
	if after, err := gitrepo.Tracked(ctx, c.Dir); err == nil && after != before && in.policy.Build != "" {
		notice("the build command changes tracked files, so that what is measured is not what is committed: have it write elsewhere, or commit what it makes")
	}
	w.level()
	w.apart(seals)
	if w.base != nil {
		for _, b := range w.base.built {
			name := b.Spec.Name
			if w.head.find(name) == nil && !w.head.parent(name) && b.Parent == "" && !slices.Contains(in.gone, name) {
				notice("%s is in the base's configuration only, and is not measured", name)
			}
		}
	}
	return w, nil
}

// buildLog is where builds print. In a workflow the runner would take some
// lines for its commands.
func (c *Command) buildLog(in *invocation) io.Writer {
	if in.event == nil {
		return c.Stderr
	}
	return github.HarmlessWriter(c.Stderr)
}

// build builds the side's targets.
func (s *side) build(ctx context.Context, specs []target.Spec, temp string) error {
	s.tree.Temp, s.tree.Build = temp, s.policy.Build
	if err := os.MkdirAll(temp, 0o777); err != nil {
		return err
	}
	var err error
	s.built, err = s.tree.Prepare(ctx, specs)
	return err
}

// lacking says of targets whose program the base's tree does not have what
// that may mean.
func (s *side) lacking() {
	for i := range s.built {
		b := &s.built[i]
		if b.Err != nil || b.Spec.Kind != target.Probe {
			continue
		}
		if _, err := b.Commands[0].Find(); err != nil {
			b.Err = fmt.Errorf("its tree has no program %s: where it must be built, name the command that builds a tree (build); a base from before the target has none", b.Commands[0].Args[0])
		}
	}
}

// level settles which Go targets can be compared: builds of two kinds say
// nothing of a change, and neither do two of the gate's own, but as a control
// where there is no module at all.
func (w *workbench) level() {
	if w.base == nil {
		return
	}
	for i := range w.head.built {
		h := &w.head.built[i]
		b := w.base.find(h.Spec.Name)
		if b == nil || h.Spec.Kind != target.Go || b.Spec.Kind != target.Go || h.Err != nil || b.Err != nil {
			continue
		}
		switch head, base := h.InModule, b.InModule; {
		case head && !base && b.Fallback == "":
			b.Err = errors.New("it has no module to compile the probe in")
		case head && !base:
			b.Err = errors.New(b.Fallback)
		case base && !head && h.Fallback != "":
			h.Err = errors.New(h.Fallback) // what the change did
		case base && !head:
			b.Err = errors.New("it has a module, and the head has none: they are not built alike")
		case !head && h.Fallback+b.Fallback != "":
			b.Err = errors.New("in neither tree's module can the probe be compiled, so nothing of theirs would be compared")
		}
	}
}

// sealed are the programs that the base's targets run, hashed before the head
// is built.
func (s *side) sealed() map[string]string {
	seals := map[string]string{}
	for _, b := range s.built {
		if _, hash := b.Files(); hash != "" {
			seals[b.Spec.Name] = hash
		}
	}
	return seals
}

// apart sees to it that the base's targets are the base's: not the head's own
// files, and not changed by its build.
func (w *workbench) apart(seals map[string]string) {
	if w.base == nil {
		return
	}
	for i := range w.base.built {
		b := &w.base.built[i]
		h := w.head.find(b.Spec.Name)
		if b.Err != nil || h == nil {
			continue
		}
		files, hash := b.Files()
		theirs, _ := h.Files()
		switch {
		case hash != seals[b.Spec.Name]:
			b.Err = errors.New("its program was changed while the head was built: a build must write into its own tree alone")
		case len(files) > 0 && slices.Equal(files, theirs):
			b.Err = fmt.Errorf("it would run the same file as the head, %s: have the build leave the program in its tree, and name it there (./...)", files[0])
		}
	}
}

func (s *side) find(name string) *target.Built {
	for i := range s.built {
		if s.built[i].Spec.Name == name {
			return &s.built[i]
		}
	}
	return nil
}

// items are the targets in the order in which they are opened: of each the
// base first, whose plan the head then takes. What only the base has is not
// measured.
func (w *workbench) items() []item {
	var all []item
	for i := range w.head.built {
		h := &w.head.built[i]
		x := item{Built: h, side: w.head}
		if w.base != nil {
			b := w.base.find(h.Spec.Name)
			if b != nil {
				all = append(all, item{Built: b, side: w.base})
				if b.Spec != h.Spec {
					x.was = b.Spec.String()
				}
			}
			if b == nil {
				x.lone = w.lone(h)
			}
		}
		all = append(all, x)
	}
	return all
}

// lone says why the base has no such target as h; empty where that cannot be
// told.
func (w *workbench) lone(h *target.Built) string {
	switch b := w.base.unlisted(h.Parent); {
	case b != nil:
		return fmt.Sprintf("the base's benchmarks could not all be run, so there is nothing to compare with in this job: %v", b.Err)
	case h.Unlisted && w.base.parent(cmp.Or(h.Parent, h.Spec.Name)):
		return "" // one of the base's may be it
	}
	return "the base has no such target, so there is nothing to compare with in this job"
}

// parent reports whether the side has benchmarks of the target.
func (s *side) parent(name string) bool {
	return slices.ContainsFunc(s.built, func(b target.Built) bool { return b.Parent == name })
}

// unlisted is what kept a target's benchmarks, or some, from being known; nil
// where nothing did.
func (s *side) unlisted(parent string) *target.Built {
	for i, b := range s.built {
		if b.Unlisted && parent != "" && (b.Parent == parent || b.Spec.Name == parent) {
			return &s.built[i]
		}
	}
	return nil
}

// same reports whether both sides of a target are one program at one
// workload.
func (w *workbench) same(name string) bool {
	if w.base == nil {
		return false
	}
	h, b := w.head.find(name), w.base.find(name)
	return h != nil && b != nil && h.Program != "" && h.Program == b.Program && w.head.policy.Workload == w.base.policy.Workload
}

// close removes the base's tree.
func (w *workbench) close() {
	if w.tree != nil {
		_ = w.tree.Close()
	}
}

// once runs a target without the protocol, or says why it cannot; nil for one
// that speaks it.
func (x item) once() func(context.Context) (measure.Once, error) {
	if !x.Spec.Unverified() {
		return nil
	}
	return func(ctx context.Context) (measure.Once, error) {
		if x.Err != nil {
			return measure.Once{}, x.Err
		}
		o, err := x.Once(ctx)
		return measure.Once(o), err
	}
}

// names are the targets that a report must have.
func (w *workbench) names() (names []string) {
	for _, b := range w.head.built {
		names = append(names, b.Spec.Name)
	}
	return names
}

// lost are the benchmarks that the base has and the head has not.
func (w *workbench) lost() (names []string) {
	if w.base == nil {
		return nil
	}
	for _, b := range w.base.built {
		if b.Parent != "" && w.head.find(b.Spec.Name) == nil && w.head.find(b.Parent) == nil && w.head.unlisted(b.Parent) == nil {
			names = append(names, b.Spec.Name)
		}
	}
	return names
}

// starter starts the target, its builds in turn.
func (x item) starter() func(context.Context) (measure.Process, error) {
	if x.Err != nil {
		return func(context.Context) (measure.Process, error) { return nil, x.Err }
	}
	return measure.Starter(x.Commands...)
}

// notes say what the record cannot show otherwise.
func (x item) notes() []string {
	notes := append([]string{}, x.side.notes...)
	if x.Fallback != "" {
		notes = append(notes, "times the gate's own build of Go's library, not the module's: "+x.Fallback)
	}
	if x.Note != "" {
		notes = append(notes, x.Note)
	}
	if x.was != "" {
		notes = append(notes, "the base runs it as "+x.was)
	}
	if x.lone != "" {
		notes = append(notes, x.lone)
	}
	return notes
}
