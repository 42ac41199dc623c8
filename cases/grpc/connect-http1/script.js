import grpc from 'k6/net/grpc';
const client = new grpc.Client();
export default function () {
  try {
    client.connect(__ENV.RAW.slice('http://'.length), { plaintext: true, timeout: '300ms' });
    console.log('connected');
  } catch (error) {
    console.log('threw', error.message.includes('reading server preface'));
  }
}
