enum Color { Red, Green = 5, Blue }
const enum Small { A = 'a' }
export default function () { console.log(Color.Red, Color.Blue, Color[5], Small.A); }
