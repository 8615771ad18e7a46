#!/bin/sh
# debian-root.sh OUT.tar PACKAGE...: a small Debian root from the files of packages that are installed here. Offline; the same
# tar for the same packages.
set -eu
out=$1
shift
root=$(mktemp -d)
list=$(mktemp)
trap 'rm -rf "$root" "$list"' EXIT
for folder in usr/bin usr/sbin usr/lib usr/lib64 etc tmp root proc sys dev run var/tmp home opt; do
  mkdir -p "$root/$folder"
done
chmod 1777 "$root/tmp" "$root/var/tmp"
chmod 700 "$root/root"
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done

# One path per line; those through the links of a merged /usr get their real folder, links at the end stay links.
files() {
  while IFS= read -r file; do
    [ -L "$file" ] || [ -f "$file" ] || continue
    case $file in /bin/* | /sbin/* | /lib/* | /lib64/*) file=/usr$file ;; esac
    printf '%s\n' "$file"
  done
}

dpkg -L "$@" | grep -vE '^/usr/share/(doc|man|locale|lintian|info|bug|doc-base)(/|$)' | sort -u | files >"$list"
grep -E '/s?bin/|\.so' "$list" | xargs -d '\n' ldd 2>/dev/null | grep -oE '/[^ ]+\.so[^ ]*' | sed 's/:$//' | sort -u |
  while IFS= read -r library; do
    echo "$library"
    readlink -f "$library"
  done | files >>"$list" || true
sort -u "$list" -o "$list"
sed 's,^/,,' "$list" | tar -C / --no-recursion -cf - -T - | tar -C "$root" --keep-directory-symlink -xf -
printf 'root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000::/home:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n' >"$root/etc/passwd"
printf 'root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n' >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$root" -cf "$out" .
