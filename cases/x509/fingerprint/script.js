import { parse } from 'k6/crypto/x509';
import crypto from 'k6/crypto';
const pem = open('ed.pem');
export default function () {
  const { fingerPrint } = parse(pem);
  console.log(Array.isArray(fingerPrint), fingerPrint.length, fingerPrint.map((b) => b.toString(16).padStart(2, '0')).join(':'));
  console.log(crypto.hexEncode(new Uint8Array(fingerPrint).buffer));
}
