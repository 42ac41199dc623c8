const text = open('data.txt'), bytes = open('data.txt', 'b'), other = open('data.txt', 'x'), nothing = open('data.txt', undefined);
export default function () {
  console.log(JSON.stringify(text), bytes instanceof ArrayBuffer, new Uint8Array(bytes).join(), typeof other, typeof nothing, open.length);
}
