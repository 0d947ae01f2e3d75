use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt;
use tokio_stream::{Stream, StreamExt};
use tonic::body::Body;
use tonic::codec::CompressionEncoding::{Deflate, Gzip, Zstd};
use tonic::metadata::MetadataMap;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Code, Request, Response, Status, Streaming};
use tower_service::Service;

use crate::pb::test_service_server::{TestService, TestServiceServer};
use crate::pb::*;
use crate::{Failure, payload};

const INITIAL: &str = "x-grpc-test-echo-initial";
const TRAILING: &str = "x-grpc-test-echo-trailing-bin";

type Outputs = Pin<Box<dyn Stream<Item = Result<StreamingOutputCallResponse, Status>> + Send>>;

struct Interop;

fn status(asked: Option<EchoStatus>) -> Result<(), Status> {
    match asked {
        Some(EchoStatus { code, message }) if code != 0 => Err(Status::new(Code::from_i32(code), message)),
        _ => Ok(()),
    }
}

fn echo_initial(from: &MetadataMap, to: &mut MetadataMap) {
    if let Some(value) = from.get(INITIAL) {
        to.insert(INITIAL, value.clone());
    }
}

/// Sends back what becomes a trailer: tonic's handlers have none to set.
#[derive(Clone)]
struct EchoTrailing<S>(S);

impl<S, B> Service<http::Request<B>> for EchoTrailing<S>
where
    S: Service<http::Request<B>, Response = http::Response<Body>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let asked = request.headers().get(TRAILING).cloned();
        let response = self.0.call(request);
        Box::pin(async move {
            let response = response.await?;
            let Some(value) = asked else { return Ok(response) };
            let trailers = http::HeaderMap::from_iter([(TRAILING.parse().unwrap(), value)]);
            Ok(response.map(|body| Body::new(body.with_trailers(async { Some(Ok(trailers)) }))))
        })
    }
}

#[tonic::async_trait]
impl TestService for Interop {
    async fn empty_call(&self, _: Request<Empty>) -> Result<Response<Empty>, Status> {
        Ok(Response::new(Empty {}))
    }

    async fn unary_call(
        &self,
        request: Request<SimpleRequest>,
    ) -> Result<Response<SimpleResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        status(request.response_status)?;
        let mut response =
            Response::new(SimpleResponse {
                payload: payload(request.response_size as usize),
                ..Default::default()
            });
        echo_initial(&metadata, response.metadata_mut());
        if !request.response_compressed.is_some_and(|flag| flag.value) {
            response.disable_compression();
        }
        Ok(response)
    }

    type StreamingOutputCallStream = Outputs;

    async fn streaming_output_call(
        &self,
        request: Request<StreamingOutputCallRequest>,
    ) -> Result<Response<Outputs>, Status> {
        let request = request.into_inner();
        Ok(Response::new(Box::pin(async_stream::try_stream! {
            for wanted in request.response_parameters {
                tokio::time::sleep(Duration::from_micros(wanted.interval_us as u64)).await;
                yield StreamingOutputCallResponse { payload: payload(wanted.size as usize) };
            }
            status(request.response_status)?;
        })))
    }

    async fn streaming_input_call(
        &self,
        request: Request<Streaming<StreamingInputCallRequest>>,
    ) -> Result<Response<StreamingInputCallResponse>, Status> {
        let mut requests = request.into_inner();
        let mut size = 0;
        while let Some(request) = requests.message().await? {
            size += request.payload.map_or(0, |payload| payload.body.len());
        }
        Ok(Response::new(StreamingInputCallResponse { aggregated_payload_size: size as i32 }))
    }

    type FullDuplexCallStream = Outputs;

    async fn full_duplex_call(
        &self,
        request: Request<Streaming<StreamingOutputCallRequest>>,
    ) -> Result<Response<Outputs>, Status> {
        let (metadata, _, mut requests) = request.into_parts();
        let outputs: Outputs = Box::pin(async_stream::try_stream! {
            while let Some(request) = requests.next().await {
                let request = request?;
                status(request.response_status)?;
                for wanted in request.response_parameters {
                    tokio::time::sleep(Duration::from_micros(wanted.interval_us as u64)).await;
                    yield StreamingOutputCallResponse { payload: payload(wanted.size as usize) };
                }
            }
        });
        let mut response = Response::new(outputs);
        echo_initial(&metadata, response.metadata_mut());
        Ok(response)
    }

    async fn unimplemented_call(&self, _: Request<Empty>) -> Result<Response<Empty>, Status> {
        Err(Status::unimplemented(""))
    }
}

pub async fn serve(addr: &str, files: Option<(String, String)>) -> Result<(), Failure> {
    let mut service = TestServiceServer::new(Interop);
    for encoding in [Gzip, Deflate, Zstd] {
        service = service.accept_compressed(encoding).send_compressed(encoding);
    }
    let mut server = Server::builder().layer(tower_layer::layer_fn(EchoTrailing));
    if let Some((certificate, key)) = files {
        let identity = Identity::from_pem(std::fs::read(certificate)?, std::fs::read(key)?);
        server = server.tls_config(ServerTlsConfig::new().identity(identity))?;
    }
    Ok(server.add_service(service).serve(addr.parse()?).await?)
}
