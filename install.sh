#!/bin/sh
# Installs cc-executor for one user: fetches the executable for this machine and its checksum,
# compares them, tries it, and only then puts it into place. Needs no root.
#
#   CC_EXECUTOR_INSTALL_DIR  where to, else ~/.local/bin
#   CC_EXECUTOR_VERSION      which release, as in 1.2.3, else the newest
#   CC_EXECUTOR_BASE_URL     the address of a folder with the files of a release, for mirrors
#
# docs/install.md says more, also how to check where a release comes from.

set -eu

# The address of the repository, without a slash at its end. The build of a release fills it in
# (CC_EXECUTOR_RELEASE_HOME); this is the only place where it is written.
release_home=''

main() {
  check_system
  program="cc-executor-$(target)"
  base=$(base_address)
  directory=$(install_directory)
  choose_tools

  mkdir -p "$directory" || fail "$directory cannot be created. Set CC_EXECUTOR_INSTALL_DIR."
  # In the same directory, so that the last step is one rename: there is no half of a program there.
  work=$(mktemp -d "$directory/.cc-executor-XXXXXX") ||
    fail "$directory cannot be written. Set CC_EXECUTOR_INSTALL_DIR."
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  say "downloading $program from $base"
  fetch "$base/SHA256SUMS" "$work/SHA256SUMS"
  fetch "$base/$program" "$work/$program"
  compare "$program"
  try_out "$work/$program"

  mv -f "$work/$program" "$directory/cc-executor"
  say "installed $version as $directory/cc-executor (SHA-256 $found)"
  tell_path
  say "to remove it: rm $directory/cc-executor; its data is in ~/.local/state/cc-executor"
}

check_system() {
  system=$(uname -s)
  case $system in
    Linux) ;;
    Darwin) fail "this is macOS, and cc-executor runs on Linux only: use a Linux machine, a" \
      "virtual machine or a container." ;;
    *) fail "this is $system, and cc-executor runs on Linux only." ;;
  esac
}

target() {
  machine=$(uname -m)
  case $machine in
    x86_64 | amd64)
      [ "$(getconf LONG_BIT 2>/dev/null || echo 64)" = 64 ] ||
        fail "this is a 32-bit system, which is not supported."
      if grep -q '^flags.*[[:space:]]avx2' /proc/cpuinfo; then
        echo linux-x64
      else
        echo linux-x64-baseline
      fi
      ;;
    aarch64 | arm64) echo linux-arm64 ;;
    *) fail "there is no cc-executor for $machine, only for x86_64 and aarch64." ;;
  esac
}

base_address() {
  address=${CC_EXECUTOR_BASE_URL:-}
  if [ -z "$address" ]; then
    [ -n "$release_home" ] || fail "this copy does not say where releases are:" \
      "take install.sh from a release, or set CC_EXECUTOR_BASE_URL."
    if [ -n "${CC_EXECUTOR_VERSION:-}" ]; then
      address="$release_home/releases/download/v${CC_EXECUTOR_VERSION#v}"
    else
      address="$release_home/releases/latest/download"
    fi
  fi
  # The checksum comes the same way as the program: on a way that others can change, it proves nothing.
  case $address in
    https://* | http://127.0.0.1[:/]* | http://localhost[:/]*) echo "${address%/}" ;;
    *) fail "$address is not https, so its files cannot be trusted. Use an https address." ;;
  esac
}

install_directory() {
  if [ -n "${CC_EXECUTOR_INSTALL_DIR:-}" ]; then
    chosen=$CC_EXECUTOR_INSTALL_DIR
  elif [ -n "${HOME:-}" ]; then
    chosen=$HOME/.local/bin
  else
    fail "HOME is not set. Set CC_EXECUTOR_INSTALL_DIR."
  fi
  case $chosen in
    /*) echo "${chosen%/}" ;;
    *) fail "CC_EXECUTOR_INSTALL_DIR is $chosen: use an absolute path." ;;
  esac
}

choose_tools() {
  if has curl; then
    fetcher=curl
  elif has wget; then
    fetcher=wget
  else
    fail "curl or wget is needed. Install one of them."
  fi
  has sha256sum || has openssl ||
    fail "sha256sum or openssl is needed to check the download. Install one of them."
}

fetch() {
  case $fetcher in
    curl) curl --fail --silent --show-error --location --proto-redir '=https' \
      --connect-timeout 20 --retry 2 --output "$2" "$1" ;;
    wget) wget -q -O "$2" "$1" ;; # no -T: busybox 1.35 crashes on it
  esac || fail "$1 could not be downloaded. Nothing was installed."
}

compare() {
  # The name is the whole second field: ` *` marks binary files in some lists.
  wanted=$(awk -v name="$1" '{ sub(/^\*/, "", $2) } $2 == name { print $1 }' "$work/SHA256SUMS")
  case $wanted in
    '') fail "SHA256SUMS does not name $1. Nothing was installed." ;;
    *[!0-9a-f]*) fail "SHA256SUMS has no checksum for $1, but \"$wanted\". Nothing was installed." ;;
  esac
  if has sha256sum; then
    found=$(sha256sum <"$work/$1")
  else
    found=$(openssl dgst -sha256 -r <"$work/$1")
  fi
  found=${found%% *}
  [ "$found" = "$wanted" ] || fail "$1 has SHA-256 $found, but SHA256SUMS says $wanted:" \
    "it is damaged, or not the one that was released. Nothing was installed."
}

try_out() {
  chmod 755 "$1"
  version=$("$1" version) || fail "it does not run here: it needs Linux with glibc 2.17 or" \
    "newer, so not Alpine's musl, and a file system that allows programs. Nothing was installed."
}

tell_path() {
  case ":${PATH:-}:" in
    *":$directory:"*) say "$directory is in your PATH: try \`cc-executor doctor\`" ;;
    *) say "$directory is not in your PATH: add  export PATH=\"$directory:\$PATH\"  to your profile" ;;
  esac
}

has() {
  command -v "$1" >/dev/null 2>&1
}

say() {
  echo "cc-executor: $*"
}

fail() {
  echo "cc-executor: $*" >&2
  exit 1
}

# Last, so that a script of which only a part has arrived does nothing.
main "$@"
