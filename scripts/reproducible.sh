#!/bin/bash
# reproducible.sh: whether what is released of the last commit has the same bytes when it is made twice: the tarball; what `make install` installs,
# built from the tarball, outside of a repository; and, where dpkg-dev and debhelper are installed, the Debian packages. The two builds differ in
# folder, time, locale, time zone and file mask. The last line is `N passed, N failed`; what differs is kept in build-reproducible.
set -u
cd "$(dirname "$0")/.."
kept=$PWD/build-reproducible
rm -rf "$kept"
mkdir -p "$kept/first" "$kept/second/at-a-longer-path"
first=$kept/first second=$kept/second/at-a-longer-path # without blanks, which debhelper does not take
passed=0
failed=0
export CCACHE_DISABLE=1 # which may give an object that was compiled elsewhere

# Two environments: a command, in the folder $1.
here() { (cd "$1" && shift && umask 022 && LC_ALL=C.UTF-8 TZ=UTC "$@"); }
there() { (cd "$1" && shift && umask 027 && LC_ALL=C TZ=Pacific/Kiritimati "$@"); }

# Prints the files in $1 that name a folder of the build.
tell() { grep -rlF --binary-files=text "$kept" "$1"; }

# Two files or folders called $1 have to be the same, and must not tell where they were built.
same() {
    if [ -e "$2" ] && diff -qr --no-dereference "$2" "$3" && ! tell "$2"; then
        echo "the same: $1"
        passed=$((passed + 1))
    else
        echo "FAILED: $1"
        failed=$((failed + 1))
    fi
}

fail() {
    tail -n 30 "$2"
    echo "FAILED: $1"
    echo "$passed passed, $((failed + 1)) failed"
    exit 1
}

tarball=$(here . scripts/dist.sh "$first")
there . scripts/dist.sh "$second" >/dev/null
same "the tarball" "$tarball" "$second/$(basename "$tarball")"
source=$(basename "$tarball" .tar.gz)

# Builds the unpacked tarball as `make` and `make install` do, but without the programs of the tests. What is installed goes to the folder
# `installed`.
build() {
    tar -xzf "$source.tar.gz" && cd "$source" && meson setup build -Dtests=false >../build.log && make >>../build.log 2>&1 &&
        DESTDIR=$(dirname "$PWD")/installed meson install -C build --no-rebuild >>../build.log 2>&1
}
export -f build
export source
here "$first" bash -c build || fail "the tarball does not build" "$first/build.log"
there "$second" bash -c build || fail "the tarball does not build" "$second/build.log"
same "what is installed" "$first/installed" "$second/installed"

packages() { mv "$source" debian-build && cd debian-build && rm -rf build && dpkg-buildpackage -us -uc -b >../deb.log 2>&1; }
export -f packages
if command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null && (cd "$first/$source" && dpkg-checkbuilddeps 2>/dev/null); then
    here "$first" bash -c packages || fail "the Debian packages" "$first/deb.log"
    there "$second" bash -c packages || fail "the Debian packages" "$second/deb.log"
    for package in "$first"/*.deb; do same "$(basename "$package")" "$package" "$second/$(basename "$package")"; done
else
    echo "skipped: the Debian packages, since dpkg-dev, debhelper or what they build with is not installed"
fi
[ "$failed" -gt 0 ] || rm -rf "$kept"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
