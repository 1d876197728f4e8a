package baseline

// Latest is the newest release in the files, by the date of its commit, of
// equal dates the one recorded last; empty where there is none.
func Latest(files []File) string {
	var newest release
	for _, f := range files {
		last := latest(releases(f.Runs))
		if newest.name == "" || last.date.After(newest.date) || last.date.Equal(newest.date) && hasRelease(f.Runs, newest.name) {
			newest = last
		}
	}
	return newest.name
}
