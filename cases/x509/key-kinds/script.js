import { parse } from 'k6/crypto/x509';
const pems = { rsa: open('full.pem'), ec: open('bare.pem'), ed: open('ed.pem') };
export default function () {
  for (const [name, pem] of Object.entries(pems)) {
    const { publicKey, signatureAlgorithm } = parse(pem);
    console.log(name, signatureAlgorithm, publicKey.algorithm, publicKey.key === null ? null : Object.keys(publicKey.key).sort().join());
  }
}
