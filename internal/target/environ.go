package target

import (
	"regexp"
	"strings"
)

// Environ is env without what a target has no use for and must not see:
//
//   - names that speak of a secret: with TOKEN, SECRET, PASSW, PASSPHRASE,
//     CREDENTIAL, APIKEY, ACCESS_KEY, PRIVATE_KEY, SIGNING_KEY, BEARER, COOKIE or
//     JWT in them, with the word AUTH, PWD, PAT, KEY or KEYS, or a word that ends
//     in PASS, such as GITHUB_TOKEN, PGPASSWORD and DEPLOY_KEY;
//   - values that are a URL with a password, but for proxies: GOPROXY, HTTPS_PROXY;
//   - ACTIONS_*, a job's service addresses and their tokens, and INPUT_*;
//   - GITHUB_ENV, GITHUB_OUTPUT, GITHUB_PATH, GITHUB_STATE and
//     GITHUB_STEP_SUMMARY, the files by which a step speaks for the job;
//   - what leads to a caller's keys: SSH_AUTH_SOCK, SSH_ASKPASS, GIT_ASKPASS and
//     GIT_CONFIG_*, but for the paths of configuration files;
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
		name, value, ok := strings.Cut(v, "=")
		upper := strings.ToUpper(name)
		if ok && name != "" && !withheld(upper) && (strings.HasSuffix(upper, "PROXY") || !urlWithPassword.MatchString(value)) {
			kept = append(kept, v)
		}
	}
	return kept
}

var urlWithPassword = regexp.MustCompile(`://[^/\s:@]*:[^\s@]+@`)

var secretParts = []string{"TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "SIGNING_KEY", "BEARER", "COOKIE", "JWT"}

func withheld(name string) bool {
	switch name {
	case "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "PWD", "OLDPWD",
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"SSH_AUTH_SOCK", "SSH_ASKPASS", "GIT_ASKPASS":
		return true
	case "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM":
		return false
	}
	for _, prefix := range []string{"ACTIONS_", "INPUT_", "GIT_CONFIG"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, part := range secretParts {
		if strings.Contains(name, part) {
			return true
		}
	}
	words := strings.Split(name, "_")
	for _, w := range words {
		if w == "AUTH" || w == "PWD" || w == "PAT" || strings.HasSuffix(w, "PASS") {
			return true
		}
	}
	last := words[len(words)-1]
	return last == "KEY" || last == "KEYS"
}
