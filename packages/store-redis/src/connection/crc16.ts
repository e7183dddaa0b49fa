const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 8;
  for (let bit = 0; bit < 8; bit++) remainder = (remainder << 1) ^ (remainder & 0x8000 ? 0x1021 : 0);
  return remainder;
});

/** The checksum by which Redis Cluster places keys (CRC-16/XMODEM), of the text as UTF-8. */
export function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text)) crc = ((crc << 8) ^ table[((crc >> 8) ^ byte) & 0xff]!) & 0xffff;
  return crc;
}
