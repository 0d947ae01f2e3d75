use std::time::Duration;

use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::codec::CompressionEncoding::{self, Deflate, Gzip, Zstd};
use tonic::metadata::MetadataValue;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status};

use crate::pb::test_service_client::TestServiceClient;
use crate::pb::unimplemented_service_client::UnimplementedServiceClient;
use crate::pb::*;
use crate::{Failure, payload};

const INITIAL: &str = "x-grpc-test-echo-initial";
const TRAILING: &str = "x-grpc-test-echo-trailing-bin";
const SIZES: [(i32, usize); 4] = [(31_415, 27_182), (9, 8), (2_653, 1_828), (58_979, 45_904)];
const SPECIAL: &str = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n";

type Client = TestServiceClient<Channel>;
type Outcome = Result<(), Failure>;

const CASES: [&str; 19] = [
    "empty_unary",
    "large_unary",
    "client_streaming",
    "server_streaming",
    "ping_pong",
    "empty_stream",
    "timeout_on_sleeping_server",
    "cancel_after_begin",
    "cancel_after_first_response",
    "status_code_and_message",
    "special_status_message",
    "custom_metadata",
    "unimplemented_method",
    "unimplemented_service",
    "client_compressed_unary",
    "server_compressed_unary",
    "large_unary_gzip",
    "large_unary_deflate",
    "large_unary_zstd",
];

fn equal<T: PartialEq + std::fmt::Debug>(actual: T, expected: T) -> Outcome {
    if actual == expected { Ok(()) } else { Err(format!("{actual:?} instead of {expected:?}").into()) }
}

fn fails<T>(result: Result<T, Status>, code: Code, message: Option<&str>) -> Outcome {
    let Err(error) = result else { return Err("the call did not fail".into()) };
    equal(error.code(), code)?;
    message.map_or(Ok(()), |message| equal(error.message(), message))
}

fn output(size: i32, body: usize) -> StreamingOutputCallRequest {
    let wanted = ResponseParameters { size, ..Default::default() };
    StreamingOutputCallRequest {
        response_parameters: vec![wanted],
        payload: payload(body),
        ..Default::default()
    }
}

fn large() -> SimpleRequest {
    SimpleRequest { response_size: 314_159, payload: payload(271_828), ..Default::default() }
}

fn size(payload: Option<Payload>) -> usize {
    payload.map_or(0, |payload| payload.body.len())
}

async fn compressed(client: &Client, encoding: CompressionEncoding) -> Outcome {
    let mut client = client.clone().send_compressed(encoding).accept_compressed(encoding);
    let flag = Some(BoolValue { value: true });
    let request = SimpleRequest { expect_compressed: flag, response_compressed: flag, ..large() };
    let response = client.unary_call(request).await?;
    equal(response.metadata().get("grpc-encoding").is_some(), true)?;
    equal(size(response.into_inner().payload), 314_159)
}

async fn run(case: &str, mut client: Client, channel: Channel) -> Outcome {
    match case {
        "empty_unary" => equal(client.empty_call(Empty {}).await?.into_inner(), Empty {}),
        "large_unary" => {
            equal(size(client.unary_call(large()).await?.into_inner().payload), 314_159)
        }
        "client_streaming" => {
            let requests = SIZES.map(|(_, body)| StreamingInputCallRequest {
                payload: payload(body),
                ..Default::default()
            });
            let response = client.streaming_input_call(tokio_stream::iter(requests)).await?;
            equal(response.into_inner().aggregated_payload_size, 74_922)
        }
        "server_streaming" => {
            let mut request = output(0, 0);
            request.response_parameters =
                SIZES.map(|(size, _)| ResponseParameters { size, ..Default::default() }).to_vec();
            let mut responses = client.streaming_output_call(request).await?.into_inner();
            for (wanted, _) in SIZES {
                let response = responses.message().await?.ok_or("a response is missing")?;
                equal(size(response.payload), wanted as usize)?;
            }
            equal(responses.message().await?, None)
        }
        "ping_pong" => {
            let (sender, receiver) = tokio::sync::mpsc::channel(1);
            // The server's headers come with its first response.
            sender.send(output(SIZES[0].0, SIZES[0].1)).await?;
            let mut responses =
                client.full_duplex_call(ReceiverStream::new(receiver)).await?.into_inner();
            for (i, (wanted, body)) in SIZES.into_iter().enumerate() {
                if i > 0 {
                    sender.send(output(wanted, body)).await?;
                }
                let response = responses.message().await?.ok_or("a response is missing")?;
                equal(size(response.payload), wanted as usize)?;
            }
            drop(sender);
            equal(responses.message().await?, None)
        }
        "empty_stream" => {
            let mut responses =
                client.full_duplex_call(tokio_stream::empty()).await?.into_inner();
            equal(responses.message().await?, None)
        }
        "timeout_on_sleeping_server" => {
            let mut slow = output(31_415, 27_182);
            slow.response_parameters[0].interval_us = 1_000_000;
            let mut request = Request::new(tokio_stream::once(slow));
            request.set_timeout(Duration::from_millis(1));
            // What the client itself sees first is its own deadline, which tonic calls by this code.
            let result = match client.full_duplex_call(request).await {
                Ok(responses) => responses.into_inner().message().await,
                Err(error) => Err(error),
            };
            match result {
                Err(error) if [Code::DeadlineExceeded, Code::Cancelled].contains(&error.code()) => {
                    Ok(())
                }
                other => Err(format!("{other:?}").into()),
            }
        }
        "cancel_after_begin" => {
            let call = client.streaming_input_call(tokio_stream::pending());
            let ended = tokio::time::timeout(Duration::from_millis(50), call).await;
            equal(ended.is_err(), true)
        }
        "cancel_after_first_response" => {
            let requests = tokio_stream::once(output(31_415, 27_182)).chain(tokio_stream::pending());
            let mut responses = client.full_duplex_call(requests).await?.into_inner();
            let response = responses.message().await?.ok_or("a response is missing")?;
            equal(size(response.payload), 31_415)?;
            drop(responses);
            // The connection is as good as before.
            client.empty_call(Empty {}).await?;
            Ok(())
        }
        "status_code_and_message" => {
            let message = "test status message";
            let response_status = Some(EchoStatus { code: 2, message: message.into() });
            let unary = SimpleRequest { response_status: response_status.clone(), ..large() };
            fails(client.unary_call(unary).await, Code::Unknown, Some(message))?;
            let request = StreamingOutputCallRequest { response_status, ..Default::default() };
            let result = match client.full_duplex_call(tokio_stream::once(request)).await {
                Ok(responses) => responses.into_inner().message().await,
                Err(error) => Err(error),
            };
            fails(result, Code::Unknown, Some(message))
        }
        "special_status_message" => {
            let response_status = Some(EchoStatus { code: 2, message: SPECIAL.into() });
            let request = SimpleRequest { response_status, ..Default::default() };
            fails(client.unary_call(request).await, Code::Unknown, Some(SPECIAL))
        }
        "custom_metadata" => {
            let trailing = MetadataValue::from_bytes(&[0xab, 0xab, 0xab]);
            let mut unary = Request::new(large());
            let mut stream = Request::new(tokio_stream::once(output(314_159, 271_828)));
            for metadata in [unary.metadata_mut(), stream.metadata_mut()] {
                metadata.insert(INITIAL, "test_initial_metadata_value".parse()?);
                metadata.insert_bin(TRAILING, trailing.clone());
            }
            let response = client.unary_call(unary).await?;
            let initial = response.metadata().get(INITIAL).map(|value| value.to_str().unwrap());
            equal(initial, Some("test_initial_metadata_value"))?;
            equal(response.metadata().get_bin(TRAILING), Some(&trailing))?;
            let response = client.full_duplex_call(stream).await?;
            let initial = response.metadata().get(INITIAL).map(|value| value.to_str().unwrap());
            equal(initial, Some("test_initial_metadata_value"))?;
            let mut responses = response.into_inner();
            let trailers = responses.trailers().await?.ok_or("no trailers")?;
            equal(trailers.get_bin(TRAILING), Some(&trailing))
        }
        "unimplemented_method" => {
            fails(client.unimplemented_call(Empty {}).await, Code::Unimplemented, None)
        }
        "unimplemented_service" => {
            let mut absent = UnimplementedServiceClient::new(channel);
            fails(absent.unimplemented_call(Empty {}).await, Code::Unimplemented, None)
        }
        "client_compressed_unary" => {
            let request = |value| SimpleRequest {
                expect_compressed: Some(BoolValue { value }),
                ..large()
            };
            fails(client.unary_call(request(true)).await, Code::InvalidArgument, None)?;
            client.unary_call(request(false)).await?;
            client.send_compressed(Gzip).unary_call(request(true)).await?;
            Ok(())
        }
        "server_compressed_unary" => {
            let mut client = client.accept_compressed(Gzip);
            for value in [true, false] {
                let response_compressed = Some(BoolValue { value });
                let request = SimpleRequest { response_compressed, ..large() };
                let response = client.unary_call(request).await?;
                equal(size(response.into_inner().payload), 314_159)?;
            }
            Ok(())
        }
        "large_unary_gzip" => compressed(&client, Gzip).await,
        "large_unary_deflate" => compressed(&client, Deflate).await,
        "large_unary_zstd" => compressed(&client, Zstd).await,
        _ => Err("no such case".into()),
    }
}

pub async fn run_all(addr: &str, files: Option<(String, String)>) -> Outcome {
    let endpoint = match files {
        None => Endpoint::from_shared(format!("http://{addr}"))?,
        Some((authority, name)) => {
            let authority = Certificate::from_pem(std::fs::read(authority)?);
            let tls = ClientTlsConfig::new().ca_certificate(authority).domain_name(name);
            Endpoint::from_shared(format!("https://{addr}"))?.tls_config(tls)?
        }
    };
    let channel = endpoint.connect().await?;
    for case in CASES {
        let ended = run(case, TestServiceClient::new(channel.clone()), channel.clone());
        match tokio::time::timeout(Duration::from_secs(20), ended).await {
            Ok(Ok(())) => println!("{case} passed"),
            Ok(Err(error)) => println!("{case} failed: {error}"),
            Err(_) => println!("{case} failed: it did not end"),
        }
    }
    Ok(())
}
