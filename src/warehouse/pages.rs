//! The pages of a column of bytes, made where its values are.
//!
//! A value is written once, straight into the page that it will stand in, where its hash is taken too. What the load hands on is
//! compressed. A page has the plain encoding of Parquet: of each value its length, four bytes little-endian, then its bytes.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType, ZstdLevel};
use parquet::column::page::{CompressedPage, Page as ParquetPage, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::PageEncodingStats;
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;
use zstd::zstd_safe::compress_bound;

/// Bytes of a page before it is compressed, from which on it is full.
const PAGE_BYTES: usize = 1 << 20;

/// The length of a value in a page.
const LENGTH_BYTES: usize = 4;

/// Values put into pages one by one.
#[derive(Default)]
pub struct Pages {
    open: Vec<u8>,
    /// Values in `open`, but for one that is neither kept nor dropped yet.
    values: u32,
    /// Where that one begins.
    last: usize,
    full: Vec<Page>,
    compressor: Option<Compressor<'static>>,
    compressed: Vec<u8>,
}

/// A page, compressed.
#[derive(Debug, Clone)]
pub struct Page {
    bytes: Bytes,
    values: u32,
    plain_bytes: usize,
}

impl Page {
    /// How many values it holds.
    pub fn values(&self) -> usize {
        self.values as usize
    }

    /// Its bytes as they stand.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }
}

impl Pages {
    /// Begins a value, which is appended to what this gives. It is then kept or dropped.
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.open.extend_from_slice(&[0; LENGTH_BYTES]);
        self.last = self.open.len();
        &mut self.open
    }

    /// The value that was begun.
    pub fn value(&self) -> &[u8] {
        self.open.get(self.last..).unwrap_or_default()
    }

    /// Forgets the value that was begun.
    pub fn drop_value(&mut self) {
        self.open.truncate(self.last - LENGTH_BYTES);
    }

    /// Takes the value that was begun for the next one of the column.
    pub fn keep(&mut self) -> Result<(), ParquetError> {
        let length = u32::try_from(self.value().len()).map_err(|_| too_long())?;
        let place = self.open.get_mut(self.last - LENGTH_BYTES..self.last);
        place.ok_or_else(too_long)?.copy_from_slice(&length.to_le_bytes());
        self.values += 1;
        if self.open.len() >= PAGE_BYTES { self.end_page() } else { Ok(()) }
    }

    /// The pages so far, the last one as it is; what comes next begins a new one.
    pub fn finish(&mut self) -> Result<Vec<Page>, ParquetError> {
        if self.values > 0 {
            self.end_page()?;
        }
        Ok(std::mem::take(&mut self.full))
    }

    fn end_page(&mut self) -> Result<(), ParquetError> {
        let external = |fault: std::io::Error| ParquetError::External(Box::new(fault));
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            None => self.compressor.insert(Compressor::new(level().compression_level()).map_err(external)?),
        };
        self.compressed.clear();
        self.compressed.reserve(compress_bound(self.open.len()));
        compressor.compress_to_buffer(&self.open, &mut self.compressed).map_err(external)?;
        let bytes = Bytes::copy_from_slice(&self.compressed);
        self.full.push(Page { bytes, values: self.values, plain_bytes: self.open.len() });
        self.open.clear();
        self.values = 0;
        Ok(())
    }
}

/// How hard a page is compressed.
fn level() -> ZstdLevel {
    ZstdLevel::default()
}

fn too_long() -> ParquetError {
    ParquetError::General("a value is longer than a page can say".to_owned())
}

/// A column's pages as one chunk of a row group. The column has no null.
pub(super) fn chunk(column: ColumnDescPtr, pages: Vec<Page>) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
    let count = pages.len();
    let mut written = TrackedWrite::new(Vec::with_capacity(pages.iter().map(|page| page.byte_len() + 64).sum()));
    let mut writer = SerializedPageWriter::new(&mut written);
    let mut offsets = OffsetIndexBuilder::new();
    let (mut values, mut value_bytes, mut plain_bytes) = (0, 0, 0);
    for page in pages {
        let content = page.plain_bytes - page.values() * LENGTH_BYTES;
        let plain = ParquetPage::DataPage {
            buf: page.bytes,
            num_values: page.values,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let place = writer.write_page(CompressedPage::new(plain, page.plain_bytes))?;
        offsets.append_row_count(i64::from(page.values));
        offsets.append_offset_and_size(
            signed(place.offset)?,
            i32::try_from(place.compressed_size).map_err(|_| too_long())?,
        );
        offsets.append_unencoded_byte_array_data_bytes(Some(signed(content)?));
        values += u64::from(page.values);
        value_bytes += content;
        plain_bytes += place.uncompressed_size;
    }
    writer.close()?;
    let chunk = Bytes::from(written.into_inner()?);
    let metadata = ColumnChunkMetaData::builder(column)
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE])
        .set_compression(Compression::ZSTD(level()))
        .set_num_values(signed(values)?)
        .set_total_compressed_size(signed(chunk.len())?)
        .set_total_uncompressed_size(signed(plain_bytes)?)
        .set_data_page_offset(0)
        .set_unencoded_byte_array_data_bytes(Some(signed(value_bytes)?))
        .set_page_encoding_stats(vec![PageEncodingStats {
            page_type: PageType::DATA_PAGE,
            encoding: Encoding::PLAIN,
            count: i32::try_from(count).map_err(|_| too_long())?,
        }])
        .build()?;
    let close = ColumnCloseResult {
        bytes_written: chunk.len() as u64,
        rows_written: values,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: Some(offsets.build()),
    };
    Ok((chunk, close))
}

fn signed(count: impl TryInto<i64>) -> Result<i64, ParquetError> {
    count.try_into().map_err(|_| too_long())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_dropped_leaves_no_trace() {
        let mut pages = Pages::default();
        pages.begin().extend_from_slice(b"one");
        assert_eq!(pages.value(), b"one");
        pages.keep().unwrap();
        pages.begin().extend_from_slice(b"not this");
        pages.drop_value();
        pages.begin();
        assert_eq!(pages.value(), b"");
        pages.keep().unwrap();
        let made = pages.finish().unwrap();
        assert_eq!(made.iter().map(Page::values).collect::<Vec<_>>(), [2]);
        let plain = zstd::bulk::decompress(&made[0].bytes, 100).unwrap();
        assert_eq!(plain, b"\x03\0\0\0one\0\0\0\0");
        assert!(pages.finish().unwrap().is_empty());
    }

    #[test]
    fn a_page_ends_behind_the_value_that_fills_it() {
        let mut pages = Pages::default();
        for length in [PAGE_BYTES - LENGTH_BYTES, 3 * PAGE_BYTES, 1, 1] {
            pages.begin().extend(std::iter::repeat_n(b'x', length));
            pages.keep().unwrap();
        }
        let made = pages.finish().unwrap();
        assert_eq!(made.iter().map(Page::values).collect::<Vec<_>>(), [1, 1, 2]);
    }
}
