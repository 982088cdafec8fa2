#!/bin/sh
# dist.sh FOLDER: writes the source of the last commit to FOLDER/cotan-VERSION.tar.gz, and prints that path. The same commit gives the same bytes:
# git dates all files by the commit, and gzip adds neither name nor time.
set -eu
version=$(git show HEAD:meson.build | sed -n "s/^  version: '\(.*\)',/\1/p" | head -n 1)
mkdir -p "$1"
git archive --format=tar --prefix="cotan-$version/" HEAD >"$1/cotan-$version.tar"
gzip -9nf "$1/cotan-$version.tar"
echo "$1/cotan-$version.tar.gz"
