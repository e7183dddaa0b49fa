import { toBinary } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import { decodeMessage } from '../wire/decode-message.ts';
import { encodeMessage } from '../wire/encode-message.ts';
import { messageTypes } from '../wire/message-types.ts';
import { descriptorOf, type ProtoFile, wellKnownFiles } from '../wire/proto-file.ts';
import { definitionOf } from '../wire/service-definition.ts';
import type { GrpcService } from './grpc-service.ts';
import { healthFile } from './health.ts';

const types = messageTypes({
  ServerReflectionRequest:
    '1 host string, 3 file_by_filename string@message_request, 4 file_containing_symbol string@message_request, 5 file_containing_extension ExtensionRequest@message_request, 6 all_extension_numbers_of_type string@message_request, 7 list_services string@message_request',
  ExtensionRequest: '1 containing_type string, 2 extension_number int32',
  ServerReflectionResponse:
    '1 valid_host string, 2 original_request ServerReflectionRequest, 4 file_descriptor_response FileDescriptorResponse@message_response, 6 list_services_response ListServiceResponse@message_response, 7 error_response ErrorResponse@message_response',
  FileDescriptorResponse: '1 file_descriptor_proto bytes[]',
  ListServiceResponse: '1 service ServiceResponse[]',
  ServiceResponse: '1 name string',
  ErrorResponse: '1 error_code int32, 2 error_message string',
});

const methods = [
  {
    name: 'ServerReflectionInfo',
    request: types.ServerReflectionRequest,
    response: types.ServerReflectionResponse,
    isStream: true,
    isClientStream: true,
  },
];

/** Both versions of the service have the same messages. */
const versions = ['v1', 'v1alpha'] as const;

const reflectionFile = (version: (typeof versions)[number]): ProtoFile => ({
  name: `grpc/reflection/${version}/reflection.proto`,
  package: `grpc.reflection.${version}`,
  types,
  service: 'ServerReflection',
  methods,
});

/** The reflection services: they describe the given files, health and themselves. */
export function reflectionServices(described: readonly ProtoFile[]): GrpcService[] {
  const catalog = new Catalog([...described, healthFile, ...versions.map(reflectionFile)]);
  return versions.map((version) => ({
    definition: definitionOf(`grpc.reflection.${version}.ServerReflection`, methods),
    implementation: {
      ServerReflectionInfo: (call: ServerDuplexStream<Buffer, Uint8Array>) => reflect(call, catalog),
    },
  }));
}

/** The files that clients may ask for. */
class Catalog {
  readonly #files: readonly ProtoFile[];
  #built: readonly FileDescriptorProto[] | undefined;

  constructor(files: readonly ProtoFile[]) {
    this.#files = files;
  }

  get services(): string[] {
    return this.#files.map((file) => `${file.package}.${file.service}`);
  }

  /** Built when a client first asks: it takes milliseconds. */
  get descriptors(): readonly FileDescriptorProto[] {
    this.#built ??= [...this.#files.map(descriptorOf), ...wellKnownFiles];
    return this.#built;
  }
}

/** The longest request, in bytes: it names a symbol or a file. */
const longestRequest = 1_024;

function reflect(call: ServerDuplexStream<Buffer, Uint8Array>, catalog: Catalog): void {
  call.on('drain', () => call.resume());
  call.on('data', (bytes: Buffer) => {
    if (call.writableEnded) return;
    if (bytes.length > longestRequest) {
      const details = `A request for reflection has at most ${longestRequest} bytes`;
      return void call.emit('error', { code: status.RESOURCE_EXHAUSTED, details });
    }
    try {
      const request = decodeMessage(types.ServerReflectionRequest, bytes);
      const response = { validHost: request.host, originalRequest: request, ...answerTo(request, catalog) };
      // A client that reads no answers may not ask for more.
      if (!call.write(encodeMessage(types.ServerReflectionResponse, response))) call.pause();
    } catch {
      call.emit('error', {
        code: status.INVALID_ARGUMENT,
        details: 'The request is no ServerReflectionRequest',
      });
    }
  });
  call.on('end', () => call.end());
  call.on('error', () => {});
}

function answerTo(request: Record<string, unknown>, catalog: Catalog): Record<string, unknown> {
  const { listServices, fileByFilename, fileContainingSymbol } = request;
  if (listServices !== undefined)
    return { listServicesResponse: { service: catalog.services.map((name) => ({ name })) } };
  const found =
    typeof fileByFilename === 'string'
      ? catalog.descriptors.find(({ name }) => name === fileByFilename)
      : typeof fileContainingSymbol === 'string'
        ? catalog.descriptors.find((file) => declares(file, fileContainingSymbol))
        : undefined;
  if (!found)
    return {
      errorResponse: { errorCode: status.NOT_FOUND, errorMessage: 'There is no such file or symbol' },
    };
  const bytes = Buffer.from(toBinary(FileDescriptorProtoSchema, found)).toString('base64');
  return { fileDescriptorResponse: { fileDescriptorProto: [bytes] } };
}

/** Whether a symbol is a service, a method, a message or an enum of a file, or lies within one. */
function declares(
  { package: packageName, service, messageType, enumType }: FileDescriptorProto,
  symbol: string,
) {
  return [...service, ...messageType, ...enumType].some(({ name }) => {
    const full = `${packageName}.${name}`;
    return symbol === full || symbol.startsWith(`${full}.`);
  });
}
