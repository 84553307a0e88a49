/* bcryptprimitives.dll of the Windows bench: Wine 8 lacks it, and programs in Rust and Go need its random numbers. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length) {
  const ULONG most = 1 << 20;
  while (length > 0) {
    ULONG part = length < most ? (ULONG)length : most;
    if (!SystemFunction036(bytes, part)) return FALSE;
    bytes += part;
    length -= part;
  }
  return TRUE;
}
