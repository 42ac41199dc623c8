export default function main() { console.log(main.name); }
