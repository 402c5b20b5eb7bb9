#!/usr/bin/env bash
# Makes the entrant: a checkout in `src`, from STEYG_SOURCE (an address or a directory) at STEYG_COMMIT.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
[ -d "$here/src" ] || git clone -q "${STEYG_SOURCE:?where the repository is}" "$here/src"
git -C "$here/src" checkout -q "${STEYG_COMMIT:?what is measured}"
cd "$here/src"
npm ci
npm run prestart
