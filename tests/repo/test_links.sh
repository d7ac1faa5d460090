#!/bin/sh
# Does links.py see what it is for?
set -eu
# shellcheck source=tests/repo/check.sh
. "$(dirname "$0")/check.sh"

put README.md '# Words' '[a page](docs/page.md#two-words), [again](docs/page.md#two-words-1), [here](#words)' '`[code](none.md)`'
put docs/page.md '## Two words' '```' '[code](none.md)' '```' '## Two words' '![picture](picture.svg)'
put docs/picture.svg '<svg/>'
passes 'links that lead somewhere' links.py

put html/index.html '<a href="page.html#there">x</a><a href="https://example.org">y</a>' '<link rel="stylesheet" href="style.css">'
put html/page.html '<h1 id="there">x</h1>'
put html/style.css ''
passes 'a site' links.py "$tree/html"
put html/page.html '<h1 id="elsewhere">x</h1>'
fails 'a place that is none' 'no place #there' links.py "$tree/html"
put html/page.html '<h1 id="there">x</h1><script src="https://example.org/x.js"></script>'
fails 'a script from elsewhere' 'loads https://example.org/x.js' links.py "$tree/html"

put docs/page.md '## Two words'
fails 'the second of a name that there is once' '#two-words-1' links.py
put README.md '[a page](docs/none.md)'
fails 'a page that is not there' 'no docs/none.md' links.py
put README.md '<img src="docs/none.svg">'
fails 'a picture that is not there' 'no docs/none.svg' links.py
finish
