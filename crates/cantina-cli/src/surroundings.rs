//! What a reader needs to know to judge the numbers: the machine, the build, the commit.

use cantina_machine::fence::Pair;
use cantina_machine::topology::Topology;
use cantina_record::Facts;
use cantina_sim::cost::Machine;
use std::env::consts;
use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// The fact that tells simulated machines of one name apart.
pub(crate) const COSTS: &str = "machine_costs";

/// What stands for a simulated machine but its name: two calibrations of one machine differ in it.
pub(crate) fn costs(machine: &Machine) -> String {
    let nameless = machine.clone().calibrated("", machine.megahertz(), machine.costs().clone());
    let written = serde_json::to_string(&nameless).expect("numbers and lists of them");
    // FNV-1a: the same on every machine, and no secret.
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", written.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
}

/// The commit this program was built from.
pub(crate) fn commit() -> &'static str {
    env!("CANTINA_COMMIT")
}

/// The facts of this machine, this build and this moment.
pub(crate) fn facts() -> Facts {
    let topology = Topology::detect();
    let fence = if Pair::best().is_asymmetric() { "asymmetric" } else { "symmetric" };
    let mut facts = Facts::new()
        .with("cpu", cpu().unwrap_or_else(|| consts::ARCH.to_owned()))
        .with("cores", topology.core_count() as u64)
        .with("nodes", topology.nodes().len() as u64);
    if let Some(virtual_machine) = is_virtual() {
        facts = facts.with("virtual", virtual_machine);
    }
    if let Some(gigabytes) = memory() {
        facts = facts.with("memory_gib", gigabytes);
    }
    facts = facts.with("os", operating_system());
    if let Some(kernel) = kernel() {
        facts = facts.with("kernel", kernel);
    }
    facts
        .with("arch", consts::ARCH)
        .with("fence", fence)
        .with("rustc", env!("CANTINA_RUSTC"))
        .with("build", if cfg!(debug_assertions) { "debug" } else { "release" })
        .with("measured", now())
}

/// The processor, in one line.
pub(crate) fn cpu() -> Option<String> {
    let known = cpuinfo("model name");
    known
        .or_else(|| output("sysctl", &["-n", "machdep.cpu.brand_string"]))
        .or_else(|| std::env::var("PROCESSOR_IDENTIFIER").ok())
}

/// Whether there is a hypervisor underneath, where the processor tells.
fn is_virtual() -> Option<bool> {
    Some(cpuinfo("flags")?.split(' ').any(|flag| flag == "hypervisor"))
}

/// The first value of a key of Linux's `/proc/cpuinfo`.
fn cpuinfo(key: &str) -> Option<String> {
    value_of(&fs::read_to_string("/proc/cpuinfo").ok()?, key, ':')
}

fn memory() -> Option<u64> {
    let total = value_of(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal", ':')?;
    let kilobytes: u64 = total.strip_suffix(" kB")?.parse().ok()?;
    Some((kilobytes + (1 << 19)) >> 20)
}

fn operating_system() -> String {
    let release = fs::read_to_string("/etc/os-release").ok();
    let name = release.and_then(|text| value_of(&text, "PRETTY_NAME", '='));
    name.map_or_else(|| consts::OS.to_owned(), |name| name.trim_matches('"').to_owned())
}

fn kernel() -> Option<String> {
    let linux = fs::read_to_string("/proc/sys/kernel/osrelease").ok();
    linux.map(|text| text.trim().to_owned()).or_else(|| output("uname", &["-r"]))
}

/// The value of the first line `KEY<separator>VALUE`.
fn value_of(text: &str, key: &str, separator: char) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(separator)?;
        (name.trim() == key && !value.trim().is_empty()).then(|| value.trim().to_owned())
    })
}

/// What a program prints, if it succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    utc(since.as_secs())
}

/// A moment as `2026-11-15 08:12 UTC`.
fn utc(seconds: u64) -> String {
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year}-{month:02}-{:02} {hour:02}:{minute:02} UTC", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_its_date() {
        let cases = [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_340, "2000-02-28 23:59 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59 UTC"),
            (1_735_689_599, "2024-12-31 23:59 UTC"),
            (1_794_730_320, "2026-11-15 08:12 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(utc(seconds), expected);
        }
    }

    #[test]
    fn a_value_is_found_by_its_key() {
        let text = "model\t: 17\nmodel name\t: Some CPU: fast\nmodel name\t: another\nempty:\n";
        assert_eq!(value_of(text, "model name", ':').as_deref(), Some("Some CPU: fast"));
        assert_eq!(value_of(text, "empty", ':'), None);
        assert_eq!(value_of(text, "absent", ':'), None);
    }

    #[test]
    fn machines_of_one_name_are_told_apart_by_their_costs_and_by_nothing_else() {
        let one = Machine::opteron_8x4();
        let mut dearer = one.costs().clone();
        dearer.rmw += 1;
        let named = |machine: &Machine, name: &str, costs| {
            machine.clone().calibrated(name, machine.megahertz(), costs)
        };
        assert_eq!(costs(&one), costs(&named(&one, "another", one.costs().clone())));
        let others = [
            named(&one, one.name(), dearer),
            one.clone().calibrated(one.name(), 1, one.costs().clone()),
            one.clone().link_speed(50),
            Machine::uniform(8, 4).unwrap(),
            Machine::epyc_2x48(),
        ];
        for other in others {
            assert_ne!(costs(&one), costs(&other), "{other:?}");
        }
    }

    #[test]
    fn the_facts_can_stand_in_a_record() {
        facts().check().unwrap();
        assert!(!commit().is_empty());
    }
}
