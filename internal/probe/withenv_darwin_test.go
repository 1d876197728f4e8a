package probe

// withEnv finds nothing: see sweep.
func withEnv(entry string) []int { return nil }
