import { matchesName, wordsOf } from "./argument-rule.ts"

/**
 * Variables by which a loader, an interpreter, a shell or a well-known tool finds code or takes
 * options: whoever may set them runs what he likes under the name of an allowed program.
 */
const loaderFamilies = [
  // Linkers and the C library.
  "LD_* DYLD_* GCONV_PATH LOCPATH NLSPATH GETCONF_DIR HOSTALIASES RESOLV_HOST_CONF",
  "GLIBC_* MALLOC_*",
  // Languages.
  "BUN_* NODE_* DENO_* npm_* NPM_* PYTHON* PERL* RUBY* GEM_* LUA_* R_* PHP*",
  "JAVA_* JDK_* _JAVA_* CLASSPATH GOFLAGS GOROOT GOPATH GOENV GOTOOL*",
  "CARGO* RUSTC* RUSTFLAGS ERL_* GUILE_* JULIA_* TCLLIBPATH",
  // Shells.
  "BASH* ZDOTDIR ENV SHELLOPTS PS4 IFS PROMPT_COMMAND CDPATH PATH HOME SHELL XDG_* INPUTRC",
  // Terminals and what is read or written on them.
  "TERMINFO* TERMCAP EDITOR VISUAL VIMINIT EXINIT PAGER LESS* BROWSER GTK_* GIO_* QT_*",
  // Tools.
  "GIT_* SSH_* CC CXX MAKEFLAGS MFLAGS MAKEFILES GNUMAKEFLAGS TAR_OPTIONS",
  "CURL_HOME WGETRC SYSTEM_WGETRC OPENSSL_* SASL_PATH KRB5_* KUBECONFIG DOCKER_*",
  "AWS_CONFIG_FILE ANSIBLE_* CLAUDE_* CC_EXECUTOR_*",
].flatMap(wordsOf)

/** And every program's own: MANPAGER, SUDO_EDITOR, RSYNC_RSH, NODE's and javac's OPTIONS. */
const loaderEndings = /(?:PAGER|EDITOR|_RSH|_OPTIONS|_OPTS|_PRELOAD|_INIT_FILE|_STARTUP)$/

/** Whether a variable changes which code a program runs, and so would undo an allow-list. */
export function changesWhatRuns(variable: string): boolean {
  return (
    loaderFamilies.some((family) => matchesName(family, variable)) || loaderEndings.test(variable)
  )
}

const baseVariables = wordsOf(
  "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TERM COLORTERM NO_COLOR TMPDIR",
)

/** Of the service's own environment, what a child gets where an allow-list rules. */
export function isBaseVariable(variable: string): boolean {
  return baseVariables.some((name) => matchesName(name, variable))
}

/**
 * Why a request may not set a variable; null when it may. A pattern lets no loader through: who
 * wants that must write its name.
 */
export function refusedVariable(
  variable: string,
  allowed: readonly string[] | null,
): string | null {
  if (allowed?.includes(variable) === true) return null
  if (changesWhatRuns(variable)) return `a request must not set ${variable}: it changes what runs`
  if (allowed === null || allowed.some((name) => matchesName(name, variable))) return null
  return `a request must not set ${variable}: it is not in the policy's environment`
}
