import type {
  Any,
  Api,
  BoolValue,
  BytesValue,
  CodeGeneratorRequest,
  CodeGeneratorResponse,
  CodeGeneratorResponse_Feature,
  CodeGeneratorResponse_File,
  CppFeatures,
  CppFeatures_RepeatedType,
  CppFeatures_StringType,
  DescriptorProto,
  DescriptorProto_ExtensionRange,
  DescriptorProto_ReservedRange,
  DoubleValue,
  Duration,
  Edition,
  Empty,
  Enum,
  EnumDescriptorProto,
  EnumDescriptorProto_EnumReservedRange,
  EnumOptions,
  EnumValue,
  EnumValueDescriptorProto,
  EnumValueOptions,
  ExtensionRangeOptions,
  ExtensionRangeOptions_Declaration,
  ExtensionRangeOptions_VerificationState,
  FeatureSet,
  FeatureSet_EnforceNamingStyle,
  FeatureSet_EnumType,
  FeatureSet_FieldPresence,
  FeatureSet_JsonFormat,
  FeatureSet_MessageEncoding,
  FeatureSet_ProtoLimitsFeature,
  FeatureSet_ProtoLimitsFeature_EnforceProtoLimits,
  FeatureSet_RepeatedFieldEncoding,
  FeatureSet_Utf8Validation,
  FeatureSet_VisibilityFeature,
  FeatureSet_VisibilityFeature_DefaultSymbolVisibility,
  FeatureSetDefaults,
  FeatureSetDefaults_FeatureSetEditionDefault,
  Field,
  Field_Cardinality,
  Field_Kind,
  FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldMask,
  FieldOptions,
  FieldOptions_CType,
  FieldOptions_EditionDefault,
  FieldOptions_FeatureSupport,
  FieldOptions_JSType,
  FieldOptions_OptionRetention,
  FieldOptions_OptionTargetType,
  FileDescriptorProto,
  FileDescriptorSet,
  FileOptions,
  FileOptions_OptimizeMode,
  FloatValue,
  GeneratedCodeInfo,
  GeneratedCodeInfo_Annotation,
  GeneratedCodeInfo_Annotation_Semantic,
  GoFeatures,
  GoFeatures_APILevel,
  GoFeatures_OptimizeModeFeature,
  GoFeatures_OptimizeModeFeature_OptimizeMode,
  GoFeatures_StripEnumPrefix,
  Int32Value,
  Int64Value,
  JavaFeatures,
  JavaFeatures_NestInFileClassFeature,
  JavaFeatures_NestInFileClassFeature_NestInFileClass,
  JavaFeatures_Utf8Validation,
  ListValue,
  MessageOptions,
  Method,
  MethodDescriptorProto,
  MethodOptions,
  MethodOptions_IdempotencyLevel,
  Mixin,
  NullValue,
  OneofDescriptorProto,
  OneofOptions,
  Option,
  ServiceDescriptorProto,
  ServiceOptions,
  SourceCodeInfo,
  SourceCodeInfo_Location,
  SourceContext,
  StringValue,
  Struct,
  SymbolVisibility,
  Syntax,
  Timestamp,
  Type,
  UInt32Value,
  UInt64Value,
  UninterpretedOption,
  UninterpretedOption_NamePart,
  Value,
  Version,
} from "@bufbuild/protobuf/wkt";

/** A message that protobuf-es exports. */
export interface WellKnownMessage<Shape> {
  readonly kind: "known message";
  readonly shape: Shape;
}

/** An enum that protobuf-es exports. */
export interface WellKnownEnum<Shape> {
  readonly kind: "known enum";
  readonly shape: Shape;
}

/** Types of the files that come along, by full name: all that protobuf-es exports. */
export interface WellKnownTypes {
  "google.protobuf.Any": WellKnownMessage<Any>;
  "google.protobuf.Api": WellKnownMessage<Api>;
  "google.protobuf.BoolValue": WellKnownMessage<BoolValue>;
  "google.protobuf.BytesValue": WellKnownMessage<BytesValue>;
  "google.protobuf.DescriptorProto": WellKnownMessage<DescriptorProto>;
  "google.protobuf.DescriptorProto.ExtensionRange": WellKnownMessage<
    DescriptorProto_ExtensionRange
  >;
  "google.protobuf.DescriptorProto.ReservedRange": WellKnownMessage<DescriptorProto_ReservedRange>;
  "google.protobuf.DoubleValue": WellKnownMessage<DoubleValue>;
  "google.protobuf.Duration": WellKnownMessage<Duration>;
  "google.protobuf.Edition": WellKnownEnum<Edition>;
  "google.protobuf.Empty": WellKnownMessage<Empty>;
  "google.protobuf.Enum": WellKnownMessage<Enum>;
  "google.protobuf.EnumDescriptorProto": WellKnownMessage<EnumDescriptorProto>;
  "google.protobuf.EnumDescriptorProto.EnumReservedRange": WellKnownMessage<
    EnumDescriptorProto_EnumReservedRange
  >;
  "google.protobuf.EnumOptions": WellKnownMessage<EnumOptions>;
  "google.protobuf.EnumValue": WellKnownMessage<EnumValue>;
  "google.protobuf.EnumValueDescriptorProto": WellKnownMessage<EnumValueDescriptorProto>;
  "google.protobuf.EnumValueOptions": WellKnownMessage<EnumValueOptions>;
  "google.protobuf.ExtensionRangeOptions": WellKnownMessage<ExtensionRangeOptions>;
  "google.protobuf.ExtensionRangeOptions.Declaration": WellKnownMessage<
    ExtensionRangeOptions_Declaration
  >;
  "google.protobuf.ExtensionRangeOptions.VerificationState": WellKnownEnum<
    ExtensionRangeOptions_VerificationState
  >;
  "google.protobuf.FeatureSet": WellKnownMessage<FeatureSet>;
  "google.protobuf.FeatureSet.EnforceNamingStyle": WellKnownEnum<FeatureSet_EnforceNamingStyle>;
  "google.protobuf.FeatureSet.EnumType": WellKnownEnum<FeatureSet_EnumType>;
  "google.protobuf.FeatureSet.FieldPresence": WellKnownEnum<FeatureSet_FieldPresence>;
  "google.protobuf.FeatureSet.JsonFormat": WellKnownEnum<FeatureSet_JsonFormat>;
  "google.protobuf.FeatureSet.MessageEncoding": WellKnownEnum<FeatureSet_MessageEncoding>;
  "google.protobuf.FeatureSet.ProtoLimitsFeature": WellKnownMessage<FeatureSet_ProtoLimitsFeature>;
  "google.protobuf.FeatureSet.ProtoLimitsFeature.EnforceProtoLimits": WellKnownEnum<
    FeatureSet_ProtoLimitsFeature_EnforceProtoLimits
  >;
  "google.protobuf.FeatureSet.RepeatedFieldEncoding": WellKnownEnum<
    FeatureSet_RepeatedFieldEncoding
  >;
  "google.protobuf.FeatureSet.Utf8Validation": WellKnownEnum<FeatureSet_Utf8Validation>;
  "google.protobuf.FeatureSet.VisibilityFeature": WellKnownMessage<FeatureSet_VisibilityFeature>;
  "google.protobuf.FeatureSet.VisibilityFeature.DefaultSymbolVisibility": WellKnownEnum<
    FeatureSet_VisibilityFeature_DefaultSymbolVisibility
  >;
  "google.protobuf.FeatureSetDefaults": WellKnownMessage<FeatureSetDefaults>;
  "google.protobuf.FeatureSetDefaults.FeatureSetEditionDefault": WellKnownMessage<
    FeatureSetDefaults_FeatureSetEditionDefault
  >;
  "google.protobuf.Field": WellKnownMessage<Field>;
  "google.protobuf.Field.Cardinality": WellKnownEnum<Field_Cardinality>;
  "google.protobuf.Field.Kind": WellKnownEnum<Field_Kind>;
  "google.protobuf.FieldDescriptorProto": WellKnownMessage<FieldDescriptorProto>;
  "google.protobuf.FieldDescriptorProto.Label": WellKnownEnum<FieldDescriptorProto_Label>;
  "google.protobuf.FieldDescriptorProto.Type": WellKnownEnum<FieldDescriptorProto_Type>;
  "google.protobuf.FieldMask": WellKnownMessage<FieldMask>;
  "google.protobuf.FieldOptions": WellKnownMessage<FieldOptions>;
  "google.protobuf.FieldOptions.CType": WellKnownEnum<FieldOptions_CType>;
  "google.protobuf.FieldOptions.EditionDefault": WellKnownMessage<FieldOptions_EditionDefault>;
  "google.protobuf.FieldOptions.FeatureSupport": WellKnownMessage<FieldOptions_FeatureSupport>;
  "google.protobuf.FieldOptions.JSType": WellKnownEnum<FieldOptions_JSType>;
  "google.protobuf.FieldOptions.OptionRetention": WellKnownEnum<FieldOptions_OptionRetention>;
  "google.protobuf.FieldOptions.OptionTargetType": WellKnownEnum<FieldOptions_OptionTargetType>;
  "google.protobuf.FileDescriptorProto": WellKnownMessage<FileDescriptorProto>;
  "google.protobuf.FileDescriptorSet": WellKnownMessage<FileDescriptorSet>;
  "google.protobuf.FileOptions": WellKnownMessage<FileOptions>;
  "google.protobuf.FileOptions.OptimizeMode": WellKnownEnum<FileOptions_OptimizeMode>;
  "google.protobuf.FloatValue": WellKnownMessage<FloatValue>;
  "google.protobuf.GeneratedCodeInfo": WellKnownMessage<GeneratedCodeInfo>;
  "google.protobuf.GeneratedCodeInfo.Annotation": WellKnownMessage<GeneratedCodeInfo_Annotation>;
  "google.protobuf.GeneratedCodeInfo.Annotation.Semantic": WellKnownEnum<
    GeneratedCodeInfo_Annotation_Semantic
  >;
  "google.protobuf.Int32Value": WellKnownMessage<Int32Value>;
  "google.protobuf.Int64Value": WellKnownMessage<Int64Value>;
  "google.protobuf.ListValue": WellKnownMessage<ListValue>;
  "google.protobuf.MessageOptions": WellKnownMessage<MessageOptions>;
  "google.protobuf.Method": WellKnownMessage<Method>;
  "google.protobuf.MethodDescriptorProto": WellKnownMessage<MethodDescriptorProto>;
  "google.protobuf.MethodOptions": WellKnownMessage<MethodOptions>;
  "google.protobuf.MethodOptions.IdempotencyLevel": WellKnownEnum<MethodOptions_IdempotencyLevel>;
  "google.protobuf.Mixin": WellKnownMessage<Mixin>;
  "google.protobuf.NullValue": WellKnownEnum<NullValue>;
  "google.protobuf.OneofDescriptorProto": WellKnownMessage<OneofDescriptorProto>;
  "google.protobuf.OneofOptions": WellKnownMessage<OneofOptions>;
  "google.protobuf.Option": WellKnownMessage<Option>;
  "google.protobuf.ServiceDescriptorProto": WellKnownMessage<ServiceDescriptorProto>;
  "google.protobuf.ServiceOptions": WellKnownMessage<ServiceOptions>;
  "google.protobuf.SourceCodeInfo": WellKnownMessage<SourceCodeInfo>;
  "google.protobuf.SourceCodeInfo.Location": WellKnownMessage<SourceCodeInfo_Location>;
  "google.protobuf.SourceContext": WellKnownMessage<SourceContext>;
  "google.protobuf.StringValue": WellKnownMessage<StringValue>;
  "google.protobuf.Struct": WellKnownMessage<Struct>;
  "google.protobuf.SymbolVisibility": WellKnownEnum<SymbolVisibility>;
  "google.protobuf.Syntax": WellKnownEnum<Syntax>;
  "google.protobuf.Timestamp": WellKnownMessage<Timestamp>;
  "google.protobuf.Type": WellKnownMessage<Type>;
  "google.protobuf.UInt32Value": WellKnownMessage<UInt32Value>;
  "google.protobuf.UInt64Value": WellKnownMessage<UInt64Value>;
  "google.protobuf.UninterpretedOption": WellKnownMessage<UninterpretedOption>;
  "google.protobuf.UninterpretedOption.NamePart": WellKnownMessage<UninterpretedOption_NamePart>;
  "google.protobuf.Value": WellKnownMessage<Value>;
  "google.protobuf.compiler.CodeGeneratorRequest": WellKnownMessage<CodeGeneratorRequest>;
  "google.protobuf.compiler.CodeGeneratorResponse": WellKnownMessage<CodeGeneratorResponse>;
  "google.protobuf.compiler.CodeGeneratorResponse.Feature": WellKnownEnum<
    CodeGeneratorResponse_Feature
  >;
  "google.protobuf.compiler.CodeGeneratorResponse.File": WellKnownMessage<
    CodeGeneratorResponse_File
  >;
  "google.protobuf.compiler.Version": WellKnownMessage<Version>;
  "pb.CppFeatures": WellKnownMessage<CppFeatures>;
  "pb.CppFeatures.RepeatedType": WellKnownEnum<CppFeatures_RepeatedType>;
  "pb.CppFeatures.StringType": WellKnownEnum<CppFeatures_StringType>;
  "pb.GoFeatures": WellKnownMessage<GoFeatures>;
  "pb.GoFeatures.APILevel": WellKnownEnum<GoFeatures_APILevel>;
  "pb.GoFeatures.OptimizeModeFeature": WellKnownMessage<GoFeatures_OptimizeModeFeature>;
  "pb.GoFeatures.OptimizeModeFeature.OptimizeMode": WellKnownEnum<
    GoFeatures_OptimizeModeFeature_OptimizeMode
  >;
  "pb.GoFeatures.StripEnumPrefix": WellKnownEnum<GoFeatures_StripEnumPrefix>;
  "pb.JavaFeatures": WellKnownMessage<JavaFeatures>;
  "pb.JavaFeatures.NestInFileClassFeature": WellKnownMessage<JavaFeatures_NestInFileClassFeature>;
  "pb.JavaFeatures.NestInFileClassFeature.NestInFileClass": WellKnownEnum<
    JavaFeatures_NestInFileClassFeature_NestInFileClass
  >;
  "pb.JavaFeatures.Utf8Validation": WellKnownEnum<JavaFeatures_Utf8Validation>;
}

/** Messages of one value that fields show as this value. */
export interface Wrappers {
  "google.protobuf.DoubleValue": number;
  "google.protobuf.FloatValue": number;
  "google.protobuf.Int64Value": bigint;
  "google.protobuf.UInt64Value": bigint;
  "google.protobuf.Int32Value": number;
  "google.protobuf.UInt32Value": number;
  "google.protobuf.BoolValue": boolean;
  "google.protobuf.StringValue": string;
  "google.protobuf.BytesValue": Uint8Array;
}
