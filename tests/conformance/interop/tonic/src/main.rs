//! gRPC's interoperability service and its cases by tonic.
//!
//! `tonic_peer server 127.0.0.1:1 [certificate key]` serves until it is ended.
//! `tonic_peer client 127.0.0.1:1 [authority name]` runs each case and prints a line for it.

mod client;
mod server;

pub mod pb {
    tonic::include_proto!("grpc.testing");
}

pub type Failure = Box<dyn std::error::Error>;

pub fn payload(size: usize) -> Option<pb::Payload> {
    Some(pb::Payload { r#type: 0, body: vec![0; size] })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let files = args.get(2).cloned().zip(args.get(3).cloned());
    match args[0].as_str() {
        "server" => server::serve(&args[1], files).await,
        "client" => client::run_all(&args[1], files).await,
        other => Err(format!("no such side: {other}").into()),
    }
}
