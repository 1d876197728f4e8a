//go:build !linux

package counter

// Group counts nothing here: Linux alone shows a process's counters to those
// who are not root.
type Group struct{}

// Open makes a Group.
func Open() *Group { return &Group{} }

// Absent says why nothing is counted.
func (*Group) Absent() string { return "only Linux shows them" }

// Read is always false.
func (*Group) Read() (Reading, bool) { return Reading{}, false }

// Close does nothing.
func (*Group) Close() {}
