#!/bin/sh
# setup.sh [PACKAGE…]: installs what building and testing need, and further packages, from Debian's, when something is missing.
set -eu

# Elsewhere than on Debian, what is missing is for the user to install; Meson says what that is.
command -v dpkg-query >/dev/null || exit 0

packages="gcc libc6-dev make pkg-config python3 python3-venv python3-dev meson ninja-build libjansson-dev libzip-dev libedit-dev libnlopt-dev libcsv-dev libcmocka-dev $*"
missing=""
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "setup: these are missing, and there is no apt-get to install them:$missing" >&2
    exit 1
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    as_root="sudo"
    command -v sudo >/dev/null || { echo "setup: run as root, or install:$missing" >&2; exit 1; }
fi
echo "setup: installing$missing"
$as_root env DEBIAN_FRONTEND=noninteractive sh -c "apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing" >/dev/null
