import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const ca = open(`${__ENV.CERTS}/ca.pem`);
const cert = open(`${__ENV.CERTS}/client.pem`);
const key = open(`${__ENV.CERTS}/client-key.pem`);
const at = (name) => __ENV[name].slice('https://'.length);
export const options = { insecureSkipTLSVerify: true };
export default function () {
  console.log(client.connect(at('TLS_OTHER')));
  console.log(client.invoke('cases.Cases/EchoWord', { text: 'any' }).message.text);
  client.close();
}
