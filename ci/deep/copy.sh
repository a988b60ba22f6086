# To be sourced by the steps that change the source: works in a copy of the tree, target/mutants/tree, with a build folder of its own.
tree=$PWD/target/mutants/tree
rm -rf "$tree" && mkdir -p "$tree"
# --touch: to Cargo, a file with its old date would look older than the mutant it has built last.
# A file that was deleted and not committed yet is still listed.
git ls-files -z --cached --others --exclude-standard | perl -0ne 'chomp; print "$_\0" if -e' |
  tar --null --files-from=- --create --file=- | tar --extract --touch --directory="$tree"
cd "$tree"
export CARGO_TARGET_DIR=$tree/../build
log=$tree/../log
