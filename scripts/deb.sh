#!/bin/sh
# deb.sh: builds the Debian packages of the last commit in build-deb, and has lintian check them.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh build-essential debhelper dh-python fakeroot lintian
rm -rf build-deb
mkdir -p build-deb/cotan
git archive HEAD | tar -x -C build-deb/cotan
cd build-deb/cotan
dpkg-buildpackage -us -uc -b >../build.log 2>&1 || { tail -n 50 ../build.log; exit 1; }
cd ..
rm -rf cotan
lintian --fail-on error,warning --tag-display-limit 0 ./*.changes
ls ./*.deb
