fn main() {
    let folder = "../../../interop";
    tonic_prost_build::configure()
        .compile_protos(&[format!("{folder}/test_service.proto")], &[folder.to_string()])
        .unwrap();
}
