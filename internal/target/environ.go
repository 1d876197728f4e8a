package target

import "strings"

// Environ is env without what a target has no use for and must not see:
//
//   - names with the word TOKEN, SECRET, PASSWORD, PASSWD, PASSPHRASE,
//     CREDENTIAL, CREDENTIALS or APIKEY, such as GITHUB_TOKEN; names that end
//     in the word KEY or PAT, or hold ACCESS_KEY;
//   - ACTIONS_*, a job's service addresses and their tokens, and INPUT_*;
//   - GITHUB_ENV, GITHUB_OUTPUT, GITHUB_PATH, GITHUB_STATE and
//     GITHUB_STEP_SUMMARY, the files by which a step speaks for the job;
//   - PWD and OLDPWD, which name our folder, and whose length would shift the
//     stack of one side against the other's;
//   - what git sets for a hook (GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE and the
//     like): the base has a tree of its own.
//
// Words are parts between underscores, in any case. The order stays. This
// hides tokens from accidents; it does not confine a program.
func Environ(env []string) []string {
	kept := make([]string, 0, len(env))
	for _, v := range env {
		if name, _, ok := strings.Cut(v, "="); ok && name != "" && !withheld(strings.ToUpper(name)) {
			kept = append(kept, v)
		}
	}
	return kept
}

func withheld(name string) bool {
	switch name {
	case "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "PWD", "OLDPWD",
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES":
		return true
	}
	if strings.HasPrefix(name, "ACTIONS_") || strings.HasPrefix(name, "INPUT_") || strings.Contains(name, "ACCESS_KEY") {
		return true
	}
	words := strings.Split(name, "_")
	for _, w := range words {
		switch w {
		case "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "APIKEY":
			return true
		}
	}
	last := words[len(words)-1]
	return last == "KEY" || last == "PAT"
}
