const text = open('./files/a.txt');
const bytes = open('files/a.txt', 'b');
export default function () { console.log(text.trim(), typeof text, bytes instanceof ArrayBuffer, bytes.byteLength); }
