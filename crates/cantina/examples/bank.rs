//! A bank: accounts are units, transfers go from one to the other without a lock, and the total is conserved.
//!
//! `cargo run --release --example bank`

use cantina::scheduler::{Eventual, Runtime, Unit};

const ACCOUNTS: usize = 100;
const TRANSFERS: usize = 10_000;
const BALANCE: u64 = 1_000;

/// Takes what there is, up to `amount`, and hands it over when it has been taken. When it has arrived.
fn transfer(from: &Unit<u64>, to: &Unit<u64>, amount: u64) -> Eventual<()> {
    let taken = from.send(move |balance| {
        let taken = amount.min(*balance);
        *balance -= taken;
        taken
    });
    to.send_after(taken, |balance, amount| *balance += amount)
}

fn main() {
    let runtime = Runtime::new();
    let accounts: Vec<Unit<u64>> = (0..ACCOUNTS).map(|_| runtime.unit(BALANCE)).collect();
    let transfers: Vec<Eventual<()>> = (0..TRANSFERS)
        .map(|number| {
            let (from, to) = (number * 7 % ACCOUNTS, number * 13 % ACCOUNTS);
            transfer(&accounts[from], &accounts[to], number as u64 % 500)
        })
        .collect();
    let handle = runtime.handle();
    let total = runtime.after(transfers, move |_| {
        let balances: Vec<_> =
            accounts.iter().map(|account| account.send(|balance| *balance)).collect();
        handle.after(balances, |balances| balances.into_iter().sum::<u64>())
    });
    assert_eq!(total.flatten().wait(), Ok(ACCOUNTS as u64 * BALANCE));
    println!("{TRANSFERS} transfers, {} operations, nothing lost", runtime.metrics().operations());
}
