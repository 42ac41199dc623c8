export default function () { for (const name of ['A', 'B', 'C', 'D', 'E', 'F']) console.log(name, JSON.stringify(__ENV[name])); }
