package quiet

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// TestMain lets the test binary be the program under test: package initialisation runs
// once per process, so each case needs its own.
func TestMain(m *testing.M) {
	if os.Getenv("QUIET_TEST_CHILD") != "" {
		during, _ := os.LookupEnv("CI")
		Restore()
		after, set := os.LookupEnv("CI")
		fmt.Printf("during %q, after %q %v", during, after, set)
		return
	}
	os.Exit(m.Run())
}

func TestRestore(t *testing.T) {
	tests := []struct {
		name string
		env  []string
		want string
	}{
		{"unset", nil, `during "1", after "" false`},
		{"set", []string{"CI=true"}, `during "1", after "true" true`},
		{"empty", []string{"CI="}, `during "1", after "" true`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(test.env, "QUIET_TEST_CHILD=1")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatal(err)
			}
			if got := string(out); got != test.want {
				t.Errorf("CI: got %s, want %s", got, test.want)
			}
		})
	}
}
