import grpc from 'k6/net/grpc';
const client = new grpc.Client();
const methods = client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
export default function () {
  for (const m of methods) console.log(JSON.stringify(m));
}
